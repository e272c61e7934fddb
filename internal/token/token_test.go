package token_test

import (
	"bytes"
	"encoding/base64"
	"errors"
	"strings"
	"testing"

	"github.com/murmurate/murmurate/internal/token"
)

var signer = token.NewSigner([]byte("0123456789abcdef0123456789abcdef"))

func TestOpenReturnsWhatWasSigned(t *testing.T) {
	t.Parallel()
	for _, payload := range [][]byte{nil, {0}, []byte("some payload"), bytes.Repeat([]byte{0xff}, 4000)} {
		text := signer.Sign(token.Receipt, payload)
		if strings.ContainsAny(text, "+/=") {
			t.Errorf("%q needs escaping in a URL", text)
		}
		got, err := signer.Open(token.Receipt, text)
		if err != nil || !bytes.Equal(got, payload) {
			t.Errorf("%q: %q, %v", payload, got, err)
		}
	}
}

func TestOpenRefusesWhatItDidNotSign(t *testing.T) {
	t.Parallel()
	payload := []byte("the payload")
	good := signer.Sign(token.Lease, payload)
	raw, err := base64.RawURLEncoding.DecodeString(good)
	if err != nil {
		t.Fatal(err)
	}
	wrong := map[string]string{
		"empty":            "",
		"no base64":        "not a token!",
		"short":            "AQ",
		"padded":           good + "=",
		"huge":             strings.Repeat("A", token.MaxBytes+1),
		"of another kind":  signer.Sign(token.Receipt, payload),
		"under other keys": token.NewSigner([]byte("another key")).Sign(token.Lease, payload),
		"kind changed":     base64.RawURLEncoding.EncodeToString(append([]byte{byte(token.Receipt)}, raw[1:]...)),
	}
	for i := range raw {
		flipped := bytes.Clone(raw)
		flipped[i] ^= 1
		wrong["flipped at "+string(rune('a'+i))] = base64.RawURLEncoding.EncodeToString(flipped)
		wrong["cut at "+string(rune('a'+i))] = base64.RawURLEncoding.EncodeToString(raw[:i])
	}
	for name, text := range wrong {
		if got, err := signer.Open(token.Lease, text); !errors.Is(err, token.ErrInvalid) {
			t.Errorf("%s: %q, %v", name, got, err)
		}
	}
	if _, err := signer.Open(token.Lease, good); err != nil {
		t.Error(err)
	}
}
