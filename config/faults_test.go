package config

import (
	"path/filepath"
	"strings"
	"testing"
)

func TestBadFiles(t *testing.T) {
	t.Parallel()
	const noSecret = "is not on loopback, and anybody who reaches it could join: set cluster.secret, the same on every node " +
		"(make one with: openssl rand -base64 32), or cluster.insecure: true where everybody on the network is trusted"
	for _, c := range []struct {
		name, file string
		want       []string
	}{
		// Names
		{"misspelt", "http:\n  listn: :80\n", []string{`2: http.listn: unknown setting (did you mean "listen"?)`}},
		{"other case", "Policies: []\n", []string{`1: Policies: unknown setting (did you mean "policies"?)`}},
		{"camel case", "limiter: {maxKeys: 5}\n", []string{`1: limiter.maxKeys: unknown setting (did you mean "max_keys"?)`}},
		{"unlike any", "grpc: {listen: x}\n", []string{`1: grpc: unknown setting; the settings here are node, http, cluster, limiter, log, policies_dir, policies`}},
		{"dotted", "http.listen: :80\n", []string{`1: http.listen: unknown setting; the settings here are node, http, cluster, limiter, log, policies_dir, policies`}},
		{"empty name", "\"\": 1\n", []string{`1: unknown setting; the settings here are node, http, cluster, limiter, log, policies_dir, policies`}},
		{"unprintable name", "\"a\\nb\": 1\n", []string{`1: a\nb: unknown setting; the settings here are node, http, cluster, limiter, log, policies_dir, policies`}},
		{"name that is a list", "? [http]\n: x\n", []string{`1: a setting's name must be plain text, got a list`}},
		{"number as a name", "1: x\n", []string{`1: 1: unknown setting; the settings here are node, http, cluster, limiter, log, policies_dir, policies`}},
		{"given twice", "log: {level: info}\nhttp: {}\nlog: {format: json}\n", []string{"3: log: is set already on line 1"}},
		{"given twice inside", "log:\n  level: info\n  level: warn\n", []string{"3: log.level: is set already on line 2"}},
		{"misspelt beside the setting that was meant", "log: {levl: a, level: loud}\ncluster: {role: ownr, rol: x}\n", []string{
			`1: log.levl: unknown setting (did you mean "level"?)`,
			`1: log.level: must be debug, info, warn or error, got "loud"`,
			`2: cluster.rol: unknown setting (did you mean "role"?)`,
			`2: cluster.role: must be owner or client, got "ownr" (did you mean "owner"?)`}},
		{"misspelt beside the group that was meant", "polices: []\npolicies:\n- name: api\n  limits: [{algorithm: token_buckt, rate: 5/5}]\n- name: api\n" +
			"  limits: [{algorithm: sliding_log, rate: 5/s}]\n", []string{
			`1: polices: unknown setting (did you mean "policies"?)`,
			`4: policies[0].limits[0].algorithm: must be one of token_bucket, leaky_bucket, fixed_window, sliding_window, sliding_log, concurrency, quota, got "token_buckt" (did you mean "token_bucket"?)`,
			"4: policies[0].limits[0].rate: the period needs a unit: write 5s, 5m or 5h",
			`5: policies[1].name: "api" is already the name of another policy (FILE:3)`}},
		{"misspelt beside nothing", "polices: [{name: api}]\npolicies: ~\ncluster:\n  gossip: 0.0.0.0:7381\n  sercet: x\n", []string{
			`1: polices: unknown setting (did you mean "policies"?)`,
			`5: cluster.sercet: unknown setting (did you mean "secret"?)`}},
		{"dotted beside the group that was meant", "log.level: info\nlog: {level: loud}\n", []string{
			"1: log.level: unknown setting; the settings here are node, http, cluster, limiter, log, policies_dir, policies",
			`2: log.level: must be debug, info, warn or error, got "loud"`}},
		{"given twice, the first time wrongly", "policies:\n- name: a\n  limits: x\n  limits: []\n", []string{
			`3: policies[0].limits: must be a list (- ... on a line of its own, or [a, b]), got "x"`,
			"4: policies[0].limits: is set already on line 3"}},
		{"name that is a list beside others", "log: {? [a] : x, level: loud}\n", []string{
			"1: log: a setting's name must be plain text, got a list",
			`1: log.level: must be debug, info, warn or error, got "loud"`}},
		{"misspelt means the setting that was meant", "policies:\n- nme: a\n  limts: []\n", []string{
			`2: policies[0].nme: unknown setting (did you mean "name"?)`,
			`3: policies[0].limts: unknown setting (did you mean "limits"?)`}},

		// Types
		{"text for a group", "http: on\n", []string{`1: http: must be settings by name (listen: ...), got "on"`}},
		{"list for a group", "http: [a]\n", []string{`1: http: must be settings by name (listen: ...), got a list`}},
		{"list as the file", "- a\n", []string{`1: must be settings by name (node: ...), got a list`}},
		{"text as the file", "hello\n", []string{`1: must be settings by name (node: ...), got "hello"`}},
		{"text for a list", "cluster: {join: n2:7381}\n", []string{`1: cluster.join: must be a list (- ... on a line of its own, or [a, b]), got "n2:7381"`}},
		{"group for a list", "policies:\n  api: {limits: []}\n", []string{"2: policies: must be a list (- ... on a line of its own, or [a, b]), got settings by name"}},
		{"list for text", "log:\n  level: [info]\n", []string{"2: log.level: must be one value, got a list"}},
		{"group for text", "log:\n  level: {a: b}\n", []string{"2: log.level: must be one value, got settings by name"}},
		{"text for a policy", "policies:\n- api\n- name: b\n  limits: [{algorithm: sliding_log}]\n", []string{
			`2: policies[0]: must be settings by name (name: ...), got "api"`,
			"4: policies[1].limits[0].rate: is required: COUNT/PERIOD such as 100/1m, 20/s or 5000/day"}},
		{"nothing in a list", "http: {headers: [~]}\ncluster: {join: [a,, ]}\n", []string{"2: is no YAML: did not find expected node content"}},
		{"null in a list", "http: {headers: [~]}\n", []string{"1: http.headers[0]: is empty: remove it, or give it a value"}},
		{"fraction", "limiter: {max_keys: 1.5}\n", []string{`1: limiter.max_keys: must be a whole number such as 250, 10k, 5M or 1G, got "1.5"`}},
		{"exponent", "limiter: {max_keys: 1e6}\n", []string{`1: limiter.max_keys: must be a whole number such as 250, 10k, 5M or 1G, got "1e6"`}},
		{"octal", "limiter: {max_keys: 0100}\n", []string{`1: limiter.max_keys: must not begin with 0, got "0100"`}},
		{"negative", "limiter: {max_keys: -1}\n", []string{`1: limiter.max_keys: must not be negative, got "-1"`}},
		{"truth as text", "cluster: {insecure: yes}\n", []string{`1: cluster.insecure: must be true or false, got "yes"`}},
		{"no unit", "cluster: {deadline: 50}\n", []string{"1: cluster.deadline: needs a unit: write 50ms or 50s"}},
		{"zero without a unit", "cluster: {deadline: 0}\n", []string{"1: cluster.deadline: needs a unit: write 0s"}},
		{"no duration", "cluster: {deadline: soon}\n", []string{`1: cluster.deadline: must be a duration such as 50ms or 1.5s, got "soon"`}},

		// YAML
		{"no YAML", "log: {level: info\nhttp: {}\n", []string{"2: is no YAML: did not find expected ',' or '}' (quote a value that has braces in it)"}},
		{"a pattern without quotes", "policies:\n- name: a\n  match: {path: /{tenant}/**}\n", []string{
			"3: is no YAML: did not find expected ',' or '}' (quote a value that has braces in it)"}},
		{"no YAML on the first line", "log: level: info\n", []string{"1: is no YAML: mapping values are not allowed in this context"}},
		{"no YAML later", "log:\n  level: info\nhttp: listen: x\n", []string{"3: is no YAML: mapping values are not allowed in this context"}},
		{"open bracket", "http: {headers: [ietf\n", []string{"2: is no YAML: did not find expected ',' or ']'"}},
		{"unknown anchor", "http: *a\n", []string{" is no YAML: unknown anchor 'a' referenced"}},
		{"control characters", "http:\n  listen: \x01\n", []string{"2: is no YAML: the character U+0001 is not allowed: remove it"}},
		{"control characters of Latin-1", "\n\u0085 \u0080", []string{"2: is no YAML: the character U+0080 is not allowed: remove it"}},
		{"no character", "\ufffe", []string{"1: is no YAML: the character U+FFFE is not allowed: remove it"}},
		{"Latin-1", "node:\n  name: caf\xe9\n", []string{"2: is no text in UTF-8 (byte 0xe9): save it in that encoding"}},
		{"UTF-16", "\xff\xfeh\x00", []string{"1: is no text in UTF-8 (byte 0xff): save it in that encoding"}},
		{"UTF-16 without a mark", "h\x00t\x00", []string{"1: is no text in UTF-8 (byte 0x00): save it in that encoding"}},
		{"binary", "\x7fELF\x02", []string{"1: is no YAML: the character U+007F is not allowed: remove it"}},
		{"a mark, a replacement character and an emoji", "\ufeffnode: {name: \ufffd\U0001f426}\n", []string{
			`1: node.name: must be at most 128 letters, digits, '.', '_' or '-', beginning with a letter or digit, got "�🐦"`}},
		{"tab", "log:\n\tlevel: info\n", []string{"2: is no YAML: found character that cannot start any token (YAML is indented with spaces, not tabs; quote a value that begins with a special character)"}},
		{"two documents", "log: {level: info}\n---\nlog: {level: warn}\n", []string{"2: a second document begins here, but a file is one document"}},
		{"alias", "http: {listen: &a ':80'}\ncluster:\n  label: *a\n", []string{"3: cluster.label: aliases (*name) are not supported: write the value out"}},
		{"alias of itself", "http: &a\n  tls: *a\n", []string{"2: http.tls: aliases (*name) are not supported: write the value out"}},
		{"merge", "log: &a {level: info}\nhttp:\n  <<: *a\n", []string{"3: http: merging (<<) is not supported: write the settings out"}},
		{"merge beside other settings", "policies:\n- &a {name: a, limits: [{algorithm: sliding_log, rate: 5/s}]}\n- {<<: *a, name: b, on_unreachable: x}\n", []string{
			"3: policies[1]: merging (<<) is not supported: write the settings out",
			`3: policies[1].on_unreachable: must be local, allow or deny, got "x"`}},
		{"tag", "limiter: {max_keys: !!int \"5\"}\n", []string{"1: limiter.max_keys: tags (!!int) are not supported: leave it out"}},

		// Values
		{"node name", "node: {name: a b}\n", []string{`1: node.name: must be at most 128 letters, digits, '.', '_' or '-', beginning with a letter or digit, got "a b"`}},
		{"choices", "log:\n  level: inof\n  format: xml\ncluster: {role: Owner}\nhttp: {headers: [ietf, y, ietf], retry_after: dat}\n", []string{
			`2: log.level: must be debug, info, warn or error, got "inof" (did you mean "info"?)`,
			`3: log.format: must be text or json, got "xml"`,
			`4: cluster.role: must be owner or client, got "Owner" (did you mean "owner"?)`,
			`5: http.headers[1]: must be ietf, legacy, x, ietf12 or none, got "y"`,
			`5: http.headers[2]: "ietf" is in the list already`,
			`5: http.retry_after: must be seconds or date, got "dat" (did you mean "date"?)`}},
		{"no headers beside some", "http:\n  headers:\n  - legacy\n  - none\n  - none\n  - ieft12\n", []string{
			`4: http.headers[1]: "none" stands alone: remove it, or all the others`,
			`5: http.headers[2]: "none" is in the list already`,
			`6: http.headers[3]: must be ietf, legacy, x, ietf12 or none, got "ieft12" (did you mean "ietf12"?)`}},
		{"no headers twice", "http: {headers: [none, none]}\n", []string{`1: http.headers[1]: "none" is in the list already`}},
		{"clients", "http:\n  trusted_proxies: [10.0.0.1, '2001:db8::/32', none, 10.0.0.1/8, 10.0.0.0/33, 'fe80::1%eth0', '::ffff:10.0.0.0/104']\n" +
			"  client_ip_header: x-real-ip\n  ipv4_prefix: 0\n  ipv6_prefix: 129\n", []string{
			`2: http.trusted_proxies[2]: must be an address without zone, or a CIDR such as 10.0.0.0/8, got "none"`,
			"2: http.trusted_proxies[3]: 10.0.0.1/8 is not where its range begins: write 10.0.0.0/8 for the range, or 10.0.0.1 for the one address",
			`2: http.trusted_proxies[4]: must be an address without zone, or a CIDR such as 10.0.0.0/8, got "10.0.0.0/33"`,
			`2: http.trusted_proxies[5]: must be an address without zone, or a CIDR such as 10.0.0.0/8, got "fe80::1%eth0"`,
			`3: http.client_ip_header: must be x-forwarded-for or forwarded, got "x-real-ip"`,
			"4: http.ipv4_prefix: must be 1 to 32, got 0",
			"5: http.ipv6_prefix: must be 1 to 128, got 129"}},
		{"no retry_after", "http: {retry_after: ''}\n", []string{`1: http.retry_after: must be seconds or date, got ""`}},
		{"bounds", "limiter: {max_keys: 2G}\ncluster:\n  deadline: 1us\n  label: ''\n", []string{
			"1: limiter.max_keys: must be 1 to 1000000000",
			"3: cluster.deadline: must be 1ms to 10s, got 1µs",
			"4: cluster.label: must have 1 to 255 bytes, got 0"}},
		{"numbers beyond counting", `limiter: {max_keys: 99999999999999999999}
policies:
- name: a
  cost: {default: 99999999999999999999}
  limits:
  - {name: x, algorithm: sliding_window, rate: 99999999999999999999/s}
  - {name: y, algorithm: token_bucket, count: 99999999999999999999, period: 1s, burst: 9999999999G}
  - {name: z, algorithm: fixed_window, rate: 5/month, anchor: 99999999999999999999}
`, []string{
			"1: limiter.max_keys: must be 1 to 1000000000",
			"4: policies[0].cost.default: must be at most 1000000000000000, which is the most that a limit can hold",
			"6: policies[0].limits[0].rate: the count must be 0 to 1000000000000000",
			"7: policies[0].limits[1].count: must be 0 to 1000000000000000",
			"7: policies[0].limits[1].burst: must be 0 to 1000000000000000",
			"8: policies[0].limits[2].anchor: must be a day from 1 to 31, and only calendar months have one"}},
		{"long label", "cluster: {label: " + strings.Repeat("x", 256) + "}\n", []string{"1: cluster.label: must have 1 to 255 bytes, got 256"}},
		{"http addresses", "http:\n  listen: 7380\n  admin_listen: localhost:99999\n", []string{
			`2: http.listen: must be HOST:PORT such as 127.0.0.1:7380 or [::1]:7380, got "7380"`,
			`3: http.admin_listen: the port must be a number from 0 to 65535, got "99999"`}},
		{"empty address", "http: {listen: ''}\n", []string{`1: http.listen: must be HOST:PORT such as 127.0.0.1:7380 or [::1]:7380, got ""`}},
		{"node addresses", "cluster:\n  insecure: true\n  gossip: :7381\n  peer: node1:7382\n", []string{
			`3: cluster.gossip: must begin with an IP address, such as 127.0.0.1:7381, or 0.0.0.0:7381 for every address, got ":7381"`,
			`4: cluster.peer: must begin with an IP address, such as 127.0.0.1:7382, or 0.0.0.0:7382 for every address, got "node1:7382"`}},
		{"zone of an address", "cluster: {gossip: '[fe80::1%eth0]:7381'}\n", []string{
			`1: cluster.gossip: must begin with an IP address, such as 127.0.0.1:7381, or 0.0.0.0:7381 for every address, got "[fe80::1%eth0]:7381"`}},
		{"seeds", "cluster:\n  join:\n  - http://n1:7381\n  - n2:0\n  - :7381\n  - n3\n  - ''\n", []string{
			`3: cluster.join[0]: must be HOST:PORT such as 10.0.0.1:7381, with the gossip port of another node, got "http://n1:7381"`,
			`4: cluster.join[1]: must be HOST:PORT such as 10.0.0.1:7381, with the gossip port of another node, got "n2:0"`,
			`5: cluster.join[2]: must be HOST:PORT such as 10.0.0.1:7381, with the gossip port of another node, got ":7381"`,
			`7: cluster.join[4]: must be HOST:PORT such as 10.0.0.1:7381, with the gossip port of another node, got ""`}},
		{"advertise", "cluster: {advertise: '10.0.0.1:7381'}\n", []string{
			`1: cluster.advertise: must be the IP address, without port, at which the other nodes reach this one, got "10.0.0.1:7381"`}},
		{"advertise everything", "cluster: {advertise: 0.0.0.0}\n", []string{
			`1: cluster.advertise: must be the IP address, without port, at which the other nodes reach this one, got "0.0.0.0"`}},
		{"lonely client", "cluster: {role: client}\n", []string{"1: cluster.join: is required for cluster.role client, which owns no keys: name at least one node"}},

		// Who may reach what
		{"open to the network", "cluster:\n  gossip: 0.0.0.0:7381\n  peer: '[::]:7382'\n", []string{
			"2: cluster.gossip: 0.0.0.0:7381 " + noSecret, "3: cluster.peer: [::]:7382 " + noSecret}},
		{"open, and said so", "cluster: {gossip: '0.0.0.0:7381', peer: 10.1.2.3:7382, insecure: true}\n", nil},
		{"open with a secret", "cluster: {gossip: '0.0.0.0:7381', peer: 10.1.2.3:7382, secret: sixteen bytes...}\n", nil},
		{"open with a faulty secret", "cluster:\n  gossip: 0.0.0.0:7381\n  secret: [x]\n", []string{"3: cluster.secret: must be one value, got a list"}},
		{"mapped loopback", "cluster: {gossip: '[::ffff:127.0.0.1]:7381', peer: '127.8.8.8:7382'}\n", nil},
		{"http anywhere", "http: {listen: ':7380'}\n", nil},
		{"administration anywhere", "http: {admin_listen: 'admin.example:7384'}\n", []string{
			"1: http.admin_listen: admin.example:7384 is not on loopback, and anybody who reaches it could reset counters: set http.auth_tokens (make one with: openssl rand -base64 32)"}},
		{"administration on loopback", "http: {admin_listen: 'localhost:7384'}\n", nil},
		{"administration with a token", "http: {admin_listen: ':7384', auth_tokens: [0123456789abcdef]}\n", nil},
		{"short secrets", "cluster: {secret: abc, identity_key: '0123456789abcde'}\nhttp: {auth_tokens: [abc, '', 'with a space inside']}\n", []string{
			"1: cluster.secret: must have at least 16 bytes, got 3; make one with: openssl rand -base64 32",
			"1: cluster.identity_key: must have at least 16 bytes, got 15; make one with: openssl rand -base64 32",
			"2: http.auth_tokens[0]: must have at least 16 bytes, got 3; make one with: openssl rand -base64 32",
			"2: http.auth_tokens[1]: must not be empty; make one with: openssl rand -base64 32",
			"2: http.auth_tokens[2]: must consist of letters, digits and -._~+/ with = at the end only; make one with: openssl rand -base64 32"}},
		{"one port twice", "http: {listen: ':7381'}\ncluster: {peer: '127.0.0.1:7381'}\n", []string{
			"1: http.listen: :7381 is taken by cluster.gossip (127.0.0.1:7381): choose another port",
			"2: cluster.peer: 127.0.0.1:7381 is taken by http.listen (:7381): choose another port",
			"2: cluster.peer: 127.0.0.1:7381 is taken by cluster.gossip (127.0.0.1:7381): choose another port"}},
		{"one port twice, in another order", "cluster: {peer: '127.0.0.1:99'}\nhttp: {listen: '127.0.0.1:99'}\n", []string{
			"2: http.listen: 127.0.0.1:99 is taken by cluster.peer (127.0.0.1:99): choose another port"}},
		{"the port of a default", "http:\n  listen: 127.0.0.1:7381\ncluster:\n  gossip: ~\n", []string{
			"2: http.listen: 127.0.0.1:7381 is taken by cluster.gossip (127.0.0.1:7381): choose another port"}},
		{"one port on two addresses", "cluster: {peer: '127.0.0.2:7381'}\n", nil},
		{"free ports", "http: {listen: '127.0.0.1:0'}\ncluster: {gossip: '127.0.0.1:0', peer: '127.0.0.1:0'}\n", nil},

		// Policies
		{"policies", `policies:
- name: a b
  limits: []
- name: api
  cost: {default: 0}
  on_unreachable: dney
  limits:
  - name: x
    algorithm: token_bukcet
    rate: 5/s
  - name: x
    algorithm: fixed_window
    rate: 5/m
    timezone: Europe/Pariss
- name: api
  limits:
  - algorithm: sliding_log
    count: 5
    period: 5
    anchor: 1.5
  - algorithm: sliding_log
    rate: 5/s
- cost: {default: -1}
`, []string{
			`2: policies[0].name: must be a letter followed by at most 63 letters, digits, '_', '.' or '-', got "a b"`,
			"3: policies[0].limits: a policy needs at least one limit",
			"5: policies[1].cost.default: must be at least 1, got 0",
			`6: policies[1].on_unreachable: must be local, allow or deny, got "dney" (did you mean "deny"?)`,
			`9: policies[1].limits[0].algorithm: must be one of token_bucket, leaky_bucket, fixed_window, sliding_window, sliding_log, concurrency, quota, got "token_bukcet" (did you mean "token_bucket"?)`,
			`11: policies[1].limits[1].name: "x" is already the name of another limit of this policy`,
			`13: policies[1].limits[1].rate: the period "m" could be a minute or a month: write min or month`,
			`14: policies[1].limits[1].timezone: there is no time zone "Europe/Pariss"; write a name of the IANA database such as America/Sao_Paulo (did you mean "Europe/Paris"?)`,
			`15: policies[2].name: "api" is already the name of another policy (FILE:4)`,
			`17: policies[2].limits[0].name: is required where a policy has several limits`,
			"19: policies[2].limits[0].period: needs a unit: write 5s, 5m or 5h",
			`20: policies[2].limits[0].anchor: must be a whole number such as 250, 10k, 5M or 1G, got "1.5"`,
			`21: policies[2].limits[1].name: is required where a policy has several limits`,
			`23: policies[3].cost.default: must not be negative, got "-1"`,
			`23: policies[3].name: must be a letter followed by at most 63 letters, digits, '_', '.' or '-', got ""`,
			"23: policies[3].limits: a policy needs at least one limit"}},

		{"cost that no limit holds", `policies:
- name: a
  cost:
    default: 10
  limits: [{algorithm: sliding_window, rate: 5/s}]
- name: b
  limits:
  - {name: x, algorithm: token_bucket, rate: 1/s, burst: 10}
  - {name: none, algorithm: sliding_window, rate: 0/s}
  cost: {default: 10}
`, []string{`4: policies[0].cost.default: 10 is more than limit "a" can ever hold (5)`}},
		{"cost beside a limit that cannot be read", `policies:
- name: a
  cost: {default: 10}
  limits:
  - {name: x, algorithm: sliding_window, rate: 5}
  - {name: y, algorithm: leaky_bucket, rate: 5/s, burst: many}
  - {name: z, algorithm: leaky_bucket, rate: 5/s, brust: 10}
`, []string{
			`5: policies[0].limits[0].rate: must be COUNT/PERIOD such as 100/1m, 20/s or 5000/day, got "5"`,
			`6: policies[0].limits[1].burst: must be a whole number such as 250, 10k, 5M or 1G, got "many"`,
			`7: policies[0].limits[2].brust: unknown setting (did you mean "burst"?)`}},
		{"day 0", "policies: [{name: a, limits: [{algorithm: fixed_window, rate: 5/month, anchor: 0}]}]\n", []string{
			"1: policies[0].limits[0].anchor: must be a day from 1 to 31, and only calendar months have one"}},

		{"everything of a policy that selects requests", `policies:
- name: api
  match: {pth: /v1, host: "a.example.com:80", method: [get], header: [{nme: X-Beta}, {name: X Y}]}
  key: [header:X-Api-Key | ipp, path:tenant]
  limits: [{name: burst, algorithm: token_bucket, rate: 10/s}]
  tiers:
    by: plan
    sets:
    - {name: pro, limits: [{name: brust, algorithm: token_bucket, rate: 1/s}]}
    - {name: pro, limits: [{name: burst, algorithm: token_bucket, rate: 1}]}
  overrides:
  - {key: a, unlimted: true}
  - {key: b}
  - {key_prefix: c, limits: [{nme: burst, algorithm: token_bucket, rate: 1/s}]}
  exempt: [{pth: /x}, {cidr: 10.0.0.1}, {}]
  cost: 0
  deny_status: 302
- name: b
  match: {path: "/{tenant}/**"}
  key: [path:tenat]
  limits: [{algorithm: sliding_log, rate: 5/s}]
  cost: [1]
  deny_status: 0
  overrides:
  - {key: a, blocked: true, unlimited: true}
  - {key: a, blocked: true}
`, []string{
			`3: policies[0].match.pth: unknown setting (did you mean "path"?)`,
			`3: policies[0].match.header[0].nme: unknown setting (did you mean "name"?)`,
			`3: policies[0].match.method[0]: methods are compared exactly, in upper case: write "GET", not "get"`,
			`3: policies[0].match.host: "a.example.com:80" is compared without port, brackets and final dot: write "a.example.com"`,
			`3: policies[0].match.header[1].name: header needs the name of one, such as X-Api-Key or session, got "X Y"`,
			`7: policies[0].tiers.by: must be header:NAME or attr:NAME, or several with | between them, got "plan"`,
			`9: policies[0].tiers.sets[0].limits[0].name: must be that of one of the policy's limits (burst), got "brust" (did you mean "burst"?)`,
			`10: policies[0].tiers.sets[1].limits[0].rate: must be COUNT/PERIOD such as 100/1m, 20/s or 5000/day, got "1"`,
			`10: policies[0].tiers.sets[1].name: "pro" is already the name of another tier of this policy`,
			`12: policies[0].overrides[0].unlimted: unknown setting (did you mean "unlimited"?)`,
			`13: policies[0].overrides[1]: needs limits, or unlimited: true, or blocked: true`,
			`14: policies[0].overrides[2].limits[0].nme: unknown setting (did you mean "name"?)`,
			`15: policies[0].exempt[0].pth: unknown setting (did you mean "path"?)`,
			`15: policies[0].exempt[1].cidr: must be a network: write 10.0.0.1/32 for this one address`,
			`15: policies[0].exempt[2]: would exempt every request: give it a path, cidr, method, host, header, query or attribute`,
			`16: policies[0].cost.default: must be at least 1, got 0`,
			`17: policies[0].deny_status: must be an HTTP status from 400 to 599, got 302`,
			`20: policies[1].key[0]: path:tenat needs a segment {tenat} in match.path (did you mean "tenant"?)`,
			`22: policies[1].cost: must be settings by name (default: ...), got a list`,
			`23: policies[1].deny_status: must be an HTTP status from 400 to 599, got 0`,
			`25: policies[1].overrides[0]: give one of limits, unlimited: true and blocked: true, not several`,
			`26: policies[1].overrides[1].key: is in overrides[0] already`}},
		{"what comes later", "policies: [{name: a, limits: [{algorithm: sliding_log, rate: 5/s}], on_cut: conserve}]\n", []string{
			"1: policies[0].on_cut: unknown setting; the settings here are name, match, key, limits, tiers, overrides, exempt, cost, shadow, cooldown, on_unreachable, durable, deny_status"}},
		{"a cost that is no number", "policies: [{name: a, limits: [{algorithm: sliding_log, rate: 5/s}], cost: much}]\n", []string{
			`1: policies[0].cost.default: must be a whole number such as 250, 10k, 5M or 1G, got "much"`}},
		{"cool-downs", `policies:
- {name: a, limits: [{algorithm: sliding_log, rate: 5/s}], cooldown: 5}
- {name: b, limits: [{algorithm: sliding_log, rate: 5/s}], cooldown: -1s}
- {name: c, limits: [{algorithm: sliding_log, rate: 5/s}], cooldown: 9000h}
- {name: d, limits: [{algorithm: sliding_log, rate: 5/s}], cooldown: {extend: true}}
- {name: e, limits: [{algorithm: sliding_log, rate: 5/s}], cooldown: {for: 0s, extend: true}}
- {name: f, limits: [{algorithm: sliding_log, rate: 5/s}], cooldown: {for: 5, extend: true}}
- {name: g, limits: [{algorithm: sliding_log, rate: 5/s}], cooldown: {fro: 5m, extend: true}}
- {name: h, limits: [{algorithm: sliding_log, rate: 5/s}], cooldown: [5m], extend: true}
- {name: i, limits: [{algorithm: sliding_log, rate: 5/s}], cooldown: 0s}
`, []string{
			"2: policies[0].cooldown.for: needs a unit: write 5ms or 5s",
			"3: policies[1].cooldown.for: must be 0s, which is none, to 8784h0m0s (366 days), got -1s",
			"4: policies[2].cooldown.for: must be 0s, which is none, to 8784h0m0s (366 days), got 9000h0m0s",
			"5: policies[3].cooldown.for: is required beside extend: how long the key stays denied, such as 5m",
			"6: policies[4].cooldown.for: is required beside extend: how long the key stays denied, such as 5m",
			"7: policies[5].cooldown.for: needs a unit: write 5ms or 5s",
			`8: policies[6].cooldown.fro: unknown setting (did you mean "for"?)`,
			"9: policies[7].cooldown: must be settings by name (for: ...), got a list",
			"9: policies[7].extend: unknown setting; the settings here are name, match, key, limits, tiers, overrides, exempt, cost, shadow, cooldown, on_unreachable, durable, deny_status"}},
		{"a policy that cannot be durable", `node: {data_dir: d}
policies:
- {name: a, durable: true, limits: [{algorithm: token_bucket, rate: 5/s}]}
- {name: b, durable: true, limits: [{name: x, algorithm: token_bucket, rate: 5/s}, {name: y, algorithm: fixed_window, rate: 5/s}]}
- {name: c, durable: true, limits: [{algorithm: token_bucket, rate: 5/s}], tiers: {by: attr:p, sets: [{name: t, limits: [{algorithm: quota, rate: 5/day}]}]}}
- {name: d, durable: true, limits: [{algorithm: fixd_window, rate: 5/s}]}
- {name: e, durable: false, limits: [{algorithm: token_bucket, rate: 5/s}]}
- {name: f, limits: [{algorithm: token_bucket, rate: 5/s, durable: true}]}
`, []string{
			"3: policies[0].durable: none of the policy's limits can be durable: only fixed_window and quota can",
			`6: policies[3].limits[0].algorithm: must be one of token_bucket, leaky_bucket, fixed_window, sliding_window, sliding_log, concurrency, quota, got "fixd_window" (did you mean "fixed_window"?)`,
			"8: policies[5].limits[0].durable: only fixed_window and quota can be durable"}},
		{"limits that cannot be read, and who refers to them", "policies: [{name: a, limits: 5, tiers: {by: attr:plan, sets: [{name: pro, limits: [{name: x, algorithm: sliding_log, rate: 5/s}]}]}}]\n", []string{
			`1: policies[0].limits: must be a list (- ... on a line of its own, or [a, b]), got "5"`}},

		// Everything at once, in the order of the lines
		{"ten faults", `node:
  nme: n1
http:
  listen: nowhere
  headers: ietf
cluster:
  gossip: 0.0.0.0:7381
  join: [n2]
  secret: short
  deadline: 50
limiter:
  max_keys: 0.5
log:
  level: verbose
  level: info
policies:
- name: api
  limits:
  - {algorithm: sliding_window, rate: 100}
  shadow: maybe
`, []string{
			`2: node.nme: unknown setting (did you mean "name"?)`,
			`4: http.listen: must be HOST:PORT such as 127.0.0.1:7380 or [::1]:7380, got "nowhere"`,
			`5: http.headers: must be a list (- ... on a line of its own, or [a, b]), got "ietf"`,
			"9: cluster.secret: must have at least 16 bytes, got 5; make one with: openssl rand -base64 32",
			"10: cluster.deadline: needs a unit: write 50ms or 50s",
			`12: limiter.max_keys: must be a whole number such as 250, 10k, 5M or 1G, got "0.5"`,
			`14: log.level: must be debug, info, warn or error, got "verbose"`,
			"15: log.level: is set already on line 14",
			`19: policies[0].limits[0].rate: must be COUNT/PERIOD such as 100/1m, 20/s or 5000/day, got "100"`,
			`20: policies[0].shadow: must be true or false, got "maybe"`}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			want := ""
			for i, line := range c.want {
				if i > 0 {
					want += "\n"
				}
				want += "FILE:" + line
			}
			if got := faultText(t, Source{File: write(t, "c.yaml", c.file)}); got != want {
				t.Errorf("\n got:\n%s\nwant:\n%s", got, want)
			}
		})
	}
}

func TestUnreadableFile(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for file, want := range map[string]string{
		filepath.Join(dir, "none.yaml"): "no such file or directory",
		dir:                             "is a directory",
	} {
		got := faultText(t, Source{File: file})
		if want = "FILE: cannot be read: " + want; got != want {
			t.Errorf("%s: got %s, want %s", file, got, want)
		}
	}
}
