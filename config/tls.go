package config

import (
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"fmt"
	"time"
)

// PEM is what the files of a group tls held when the configuration was
// loaded, which has found that they can be used together. The zero value: the
// group names none.
type PEM struct{ Cert, Key, CA []byte }

// ServerPEM are the certificates of the HTTPS listeners, those of http.tls.
// CA is client_ca. A Config that is not from [Load] has none.
func (c *Config) ServerPEM() PEM { return c.serverPEM }

// PeerPEM are the certificates of peer connections, those of cluster.tls. A
// Config that is not from [Load] has none.
func (c *Config) PeerPEM() PEM { return c.peerPEM }

// validity is when certificates can be used.
type validity struct {
	path     string // of the setting
	file     string
	from, to time.Time
	place    Fault // of path, without a detail
}

// CertificateWarnings are the certificates that nobody who checks the time
// accepts at now, with the places in the file.
func (c *Config) CertificateWarnings(now time.Time) []Fault {
	var warnings []Fault
	for _, v := range c.validities {
		w := v.place
		switch {
		case now.Before(v.from):
			w.Detail = fmt.Sprintf("%s is not valid before %s: whoever checks it refuses it until then; compare the clocks",
				v.file, v.from.UTC().Format(time.RFC3339))
		case now.After(v.to):
			w.Detail = fmt.Sprintf("%s has expired at %s: whoever checks it refuses it; replace it",
				v.file, v.to.UTC().Format(time.RFC3339))
		default:
			continue
		}
		warnings = append(warnings, w)
	}
	return warnings
}

// WithCertificates is a copy of c with what the files of its certificates hold
// now. ok is false if they cannot be used.
func (c *Config) WithCertificates() (renewed *Config, ok bool) {
	atOneTime(func(f *files) {
		next := *c
		next.validities = nil
		v := &validator{Config: &next, origin: origins(&document{}, nil), files: f}
		v.certificates()
		if renewed, ok = &next, len(v.problems) == 0; !ok {
			return
		}
		for i := range next.validities {
			next.validities[i].place = c.validities[i].place // of the same settings
		}
	})
	return renewed, ok
}

// certificates reads and judges the files of both groups.
func (v *validator) certificates() {
	server, peer := v.HTTP.TLS, v.Cluster.TLS
	v.serverPEM = v.pem("http.tls", server.Cert, server.Key)
	v.serverPEM.CA = v.authorities("http.tls.client_ca", server.ClientCA)
	v.peerPEM = v.pem("cluster.tls", peer.Cert, peer.Key)
	v.peerPEM.CA = v.authorities("cluster.tls.ca", peer.CA)
}

// pem reads a certificate and its key, and reports what cannot be used, as
// the settings cert and key of group.
func (v *validator) pem(group, cert, key string) PEM {
	p := PEM{Cert: v.read(group+".cert", cert), Key: v.read(group+".key", key)}
	if p.Cert == nil || p.Key == nil {
		return PEM{}
	}
	pair, err := tls.X509KeyPair(p.Cert, p.Key)
	if err != nil {
		v.report(group+".cert", "%s does not go with the key in %s: %v", cert, key, err)
		return PEM{}
	}
	v.validities = append(v.validities, validity{path: group + ".cert", file: cert, from: pair.Leaf.NotBefore, to: pair.Leaf.NotAfter})
	return p
}

// authorities reads certificates, and reports a file that holds none. Of
// several, one that can be used is enough.
func (v *validator) authorities(path, file string) []byte {
	data := v.read(path, file)
	if data == nil {
		return nil
	}
	list := certificatesIn(data)
	if len(list) == 0 {
		v.report(path, "%s holds no PEM certificate", file)
		return nil
	}
	all := validity{path: path, file: file, from: list[0].NotBefore, to: list[0].NotAfter}
	for _, c := range list[1:] {
		if c.NotBefore.Before(all.from) {
			all.from = c.NotBefore
		}
		if c.NotAfter.After(all.to) {
			all.to = c.NotAfter
		}
	}
	v.validities = append(v.validities, all)
	return data
}

// certificatesIn are the certificates that a pool would take from data.
func certificatesIn(data []byte) []*x509.Certificate {
	var list []*x509.Certificate
	for block, rest := pem.Decode(data); block != nil; block, rest = pem.Decode(rest) {
		if block.Type != "CERTIFICATE" || len(block.Headers) != 0 {
			continue
		}
		if c, err := x509.ParseCertificate(block.Bytes); err == nil {
			list = append(list, c)
		}
	}
	return list
}

// read reads a file, or reports why it cannot be read. Nil: nothing to judge.
func (v *validator) read(path, file string) []byte {
	if file == "" {
		return nil
	}
	data, err := v.files.read(file)
	if err != nil {
		v.report(path, "the file %s %v", file, err)
	}
	return data
}
