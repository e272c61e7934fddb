package e2e

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/murmurate/murmurate/internal/testcert"
)

// policyFile is a file of policies_dir: a policy that admits n a day for each key.
func policyFile(name string, n int) string {
	return fmt.Sprintf("name: %s\nlimits:\n  - {algorithm: fixed_window, rate: %d/24h, align: first}\n", name, n)
}

// TestPoliciesDirUnderLoad swaps the volume that a node's policies are on, as
// Kubernetes does, while checks run: none fails, and none sees a mixture.
func TestPoliciesDirUnderLoad(t *testing.T) {
	volume := mount(t, map[string]string{"reloaded.yaml": policyFile("reloaded", 100), "twin.yml": policyFile("twin", 100)})
	nodes := cluster(t, 2, setup{env: []string{roomy, "MURMURATE_POLICIES_DIR=" + volume.dir}})
	l := load(t, nodes)
	began := time.Now()
	l.inForce(t, nodes, 100)

	l.limit.Store(0)
	volume.swap(map[string]string{"reloaded.yaml": policyFile("reloaded", 1000), "new.json": `{"name": "new", "limits": [{"algorithm": "token_bucket", "rate": "5/s"}]}`})
	l.inForce(t, nodes, 1000)
	for _, n := range nodes {
		if listed := string(n.get("/v1/policies")); !strings.Contains(listed, `"new"`) || strings.Contains(listed, `"twin"`) {
			t.Errorf("%s: %s", n.name, listed)
		}
		if got := strings.Count(n.said(), "configuration reloaded"); got != 1 {
			t.Errorf("%s: reloaded %d times for one swap", n.name, got)
		}
	}

	volume.swap(map[string]string{"reloaded.yaml": policyFile("reloaded", 7), "new.json": `{"name": "new", "lim`})
	for _, n := range nodes {
		n.eventually("report the fault in metrics", func() bool { return !n.reloaded() })
		if ready := string(n.get("/readyz?verbose")); !strings.Contains(ready, `"ready":true`) || !strings.Contains(ready, "new.json:1: is no YAML") {
			t.Errorf("%s: the fault is not in readiness: %s", n.name, ready)
		}
		n.eventually("log the fault", func() bool { return strings.Contains(n.said(), "/new.json line=1 ") })
	}

	l.limit.Store(0)
	volume.swap(map[string]string{"reloaded.yaml": policyFile("reloaded", 50)})
	l.inForce(t, nodes, 50)
	t.Logf("%.0f checks/s for %v", l.end(began), time.Since(began).Round(time.Second/10))
}

// TestCertificateUnderLoad renews the certificate of a node, on a volume as
// Kubernetes mounts a secret, while checks over new and over kept connections
// run: none fails.
func TestCertificateUnderLoad(t *testing.T) {
	pool := x509.NewCertPool()
	secret := func(serial int64) map[string]string {
		cert, key := testcert.SelfSigned(t, func(c *x509.Certificate) { c.SerialNumber.SetInt64(serial) })
		pool.AppendCertsFromPEM(cert)
		return map[string]string{"tls.crt": string(cert), "tls.key": string(key)}
	}
	first, second, third := secret(1), secret(2), secret(3) // the pool is complete before it is read
	volume := mount(t, first)
	n := start(t, setup{name: "n1", env: []string{
		"MURMURATE_HTTP_TLS_CERT=" + volume.file("tls.crt"), "MURMURATE_HTTP_TLS_KEY=" + volume.file("tls.key"),
	}})
	newClient := func(reuse bool) *http.Client {
		transport := &http.Transport{TLSClientConfig: &tls.Config{RootCAs: pool}, DisableKeepAlives: !reuse}
		t.Cleanup(transport.CloseIdleConnections)
		return &http.Client{Timeout: patience, Transport: transport}
	}
	post := func(ctx context.Context, client *http.Client) (serial int64, err error) {
		request, err := http.NewRequestWithContext(ctx, http.MethodPost, "https://"+n.http+"/v1/check", strings.NewReader(`{"policy":"default","key":"k","peek":true}`))
		if err != nil {
			return 0, err
		}
		response, err := client.Do(request)
		if err != nil {
			return 0, err
		}
		defer response.Body.Close()
		if body, err := io.ReadAll(response.Body); err != nil || response.StatusCode != http.StatusOK {
			return 0, fmt.Errorf("status %d, %w: %s", response.StatusCode, err, body)
		}
		return response.TLS.PeerCertificates[0].SerialNumber.Int64(), nil
	}

	ctx, stop := context.WithCancel(t.Context())
	var running sync.WaitGroup
	t.Cleanup(func() { stop(); running.Wait() })
	var answers atomic.Int64
	for w := range 4 {
		client := newClient(w < 2)
		running.Go(func() {
			pace := time.NewTicker(10 * time.Millisecond)
			defer pace.Stop()
			for {
				select {
				case <-ctx.Done():
					return
				case <-pace.C:
				}
				serial, err := post(context.Background(), client)
				if err != nil {
					t.Error(err)
					return
				}
				if w < 2 && serial != 1 {
					t.Errorf("a kept connection shows certificate %d", serial)
				}
				answers.Add(1)
			}
		})
	}
	showing := func(want int64) {
		t.Helper()
		n.eventually(fmt.Sprintf("show certificate %d", want), func() bool {
			got, err := post(t.Context(), newClient(false))
			if err != nil {
				t.Fatal(err)
			}
			return got == want
		})
	}
	showing(1)
	volume.swap(second)
	showing(2)
	volume.swap(map[string]string{"tls.crt": third["tls.crt"], "tls.key": second["tls.key"]})
	n.eventually("report the mismatch", func() bool { return strings.Contains(n.said(), "setting=http.tls.cert") })
	showing(2)
	volume.swap(third)
	showing(3)
	stop()
	running.Wait()
	if answers.Load() == 0 {
		t.Error("no check was answered")
	}
	t.Logf("%d checks", answers.Load())
}
