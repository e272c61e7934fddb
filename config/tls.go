package config

import (
	"crypto/tls"
	"crypto/x509"
)

// keyPair reports a certificate and key that cannot be used, as the settings
// cert and key of group.
func (v *validator) keyPair(group, cert, key string) {
	certPEM := v.pem(group+".cert", cert)
	keyPEM := v.pem(group+".key", key)
	if certPEM == nil || keyPEM == nil {
		return
	}
	if _, err := tls.X509KeyPair(certPEM, keyPEM); err != nil {
		v.report(group+".cert", "does not go with key: %v", err)
	}
}

// authorities reports a file that holds no certificate.
func (v *validator) authorities(path, file string) {
	if data := v.pem(path, file); data != nil && !x509.NewCertPool().AppendCertsFromPEM(data) {
		v.report(path, "%s holds no PEM certificate", file)
	}
}

// pem reads a file, or reports why it cannot be read. Nil: nothing to judge.
func (v *validator) pem(path, file string) []byte {
	if file == "" {
		return nil
	}
	data, err := readFile(file)
	if err != nil {
		v.report(path, "the file %s %v", file, err)
	}
	return data
}
