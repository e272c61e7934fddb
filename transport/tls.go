package transport

import (
	"crypto/ed25519"
	"crypto/hkdf"
	"crypto/rand"
	"crypto/sha256"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"errors"
	"fmt"
	"math/big"
	"sync"
	"time"
)

// The certificates that [SecretTLS] makes are for this name, whatever the
// node is called: who holds the secret is a member.
const certificateName = "peer.murmurate.invalid"

// A node's own certificate. Any holder of the secret can make one, so a
// short life protects nothing; it only keeps a certificate from outliving
// its cluster. The clocks of two nodes may differ by backdated, and by
// lifetime less renewAfter the other way.
const (
	backdated  = 24 * time.Hour
	lifetime   = 72 * time.Hour
	renewAfter = 24 * time.Hour
)

// DeriveKey derives n bytes (at most 8,160) for one purpose from the cluster
// secret, by HKDF with SHA-256 (RFC 5869). Keys of different purposes say
// nothing about each other or the secret. HKDF does not strengthen a weak
// secret: it should hold at least 128 random bits.
func DeriveKey(secret, purpose string, n int) ([]byte, error) {
	key, err := hkdf.Key(sha256.New, []byte(secret), []byte("murmurate cluster secret"), "murmurate/1 "+purpose, n)
	if err != nil {
		return nil, fmt.Errorf("derive the key for %s: %w", purpose, err)
	}
	return key, nil
}

// SecretTLS makes the configuration, for both ends of a connection, of
// mutual TLS 1.3 (RFC 8446) between the holders of one secret. The secret
// gives the key of an ed25519 authority, and the node makes itself a
// certificate of it, renewed long before it expires.
func SecretTLS(secret string) (*tls.Config, error) {
	if secret == "" {
		return nil, errors.New("cluster secret: must not be empty")
	}
	seed, err := DeriveKey(secret, "peer authority", ed25519.SeedSize)
	if err != nil {
		return nil, err
	}
	a, err := newAuthority(ed25519.NewKeyFromSeed(seed))
	if err != nil {
		return nil, fmt.Errorf("make the peer authority: %w", err)
	}
	if _, err := a.current(); err != nil {
		return nil, fmt.Errorf("make the peer certificate: %w", err)
	}
	trusted := x509.NewCertPool()
	trusted.AddCert(a.certificate)
	return &tls.Config{
		MinVersion:             tls.VersionTLS13,
		ServerName:             certificateName,
		RootCAs:                trusted,
		ClientCAs:              trusted,
		ClientAuth:             tls.RequireAndVerifyClientCert,
		GetCertificate:         func(*tls.ClientHelloInfo) (*tls.Certificate, error) { return a.current() },
		GetClientCertificate:   func(*tls.CertificateRequestInfo) (*tls.Certificate, error) { return a.current() },
		SessionTicketsDisabled: true,
	}, nil
}

// authority signs this node's certificates.
type authority struct {
	key         ed25519.PrivateKey
	certificate *x509.Certificate

	mu    sync.Mutex
	own   *tls.Certificate
	renew time.Time
}

// newAuthority makes the certificate of the authority, the same on every
// node that has the key.
func newAuthority(key ed25519.PrivateKey) (*authority, error) {
	template := &x509.Certificate{
		SerialNumber:          big.NewInt(1),
		Subject:               pkix.Name{CommonName: "murmurate cluster authority"},
		NotBefore:             time.Date(1990, 1, 1, 0, 0, 0, 0, time.UTC),
		NotAfter:              time.Date(9999, 12, 31, 23, 59, 59, 0, time.UTC), // RFC 5280, section 4.1.2.5: no expiry
		IsCA:                  true,
		BasicConstraintsValid: true,
		MaxPathLenZero:        true,
		KeyUsage:              x509.KeyUsageCertSign,
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	if err != nil {
		return nil, err
	}
	certificate, err := x509.ParseCertificate(der)
	return &authority{key: key, certificate: certificate}, err
}

// current returns the node's certificate, a new one if the last is getting old.
func (a *authority) current() (*tls.Certificate, error) {
	now := time.Now()
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.own != nil && now.Before(a.renew) {
		return a.own, nil
	}
	own, err := a.issue(now)
	if err != nil {
		return nil, err
	}
	a.own, a.renew = own, now.Add(renewAfter)
	return own, nil
}

func (a *authority) issue(now time.Time) (*tls.Certificate, error) {
	public, private, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		return nil, err
	}
	serial, err := rand.Int(rand.Reader, new(big.Int).Lsh(big.NewInt(1), 120))
	if err != nil {
		return nil, err
	}
	template := &x509.Certificate{
		SerialNumber: serial,
		DNSNames:     []string{certificateName},
		NotBefore:    now.Add(-backdated),
		NotAfter:     now.Add(lifetime),
		KeyUsage:     x509.KeyUsageDigitalSignature,
		ExtKeyUsage:  []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth, x509.ExtKeyUsageClientAuth},
	}
	der, err := x509.CreateCertificate(rand.Reader, template, a.certificate, public, a.key)
	if err != nil {
		return nil, err
	}
	return &tls.Certificate{Certificate: [][]byte{der}, PrivateKey: private}, nil
}
