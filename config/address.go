package config

import (
	"fmt"
	"net"
	"net/netip"
	"regexp"
	"strconv"
)

// endpoint is a HOST:PORT, taken apart.
type endpoint struct {
	host string // empty: every address
	port uint16
}

func (e endpoint) String() string {
	return net.JoinHostPort(e.host, strconv.Itoa(int(e.port)))
}

var hostName = regexp.MustCompile(`^[A-Za-z0-9]([A-Za-z0-9._-]*[A-Za-z0-9.])?$`)

// parseEndpoint reads where to listen for clients: HOST:PORT, where HOST is
// an IP address, a name, or empty for every address, and port 0 is a free one.
func parseEndpoint(written string) (endpoint, error) {
	host, portText, err := net.SplitHostPort(written)
	if err != nil || host != "" && !isIP(host) && !hostName.MatchString(host) {
		return endpoint{}, fmt.Errorf("must be HOST:PORT such as 127.0.0.1:7380 or [::1]:7380, got %q", printable(written))
	}
	port, err := strconv.ParseUint(portText, 10, 16)
	if err != nil {
		return endpoint{}, fmt.Errorf("the port must be a number from 0 to 65535, got %q", printable(portText))
	}
	return endpoint{host, uint16(port)}, nil
}

// parseLiteral reads where to listen for nodes: as parseEndpoint, but with
// an IP address. A name could mean several addresses, and an empty one would
// quietly mean them all. Only localhost is taken, for 127.0.0.1.
func parseLiteral(written string) (endpoint, error) {
	e, err := parseEndpoint(written)
	if err != nil {
		return e, err
	}
	if e.host == "localhost" {
		e.host = "127.0.0.1"
	}
	if ip, err := netip.ParseAddr(e.host); err != nil || ip.Zone() != "" {
		return e, fmt.Errorf("must begin with an IP address, such as 127.0.0.1:%[1]d, or 0.0.0.0:%[1]d for every address, got %[2]q",
			e.port, printable(written))
	}
	return e, nil
}

// parseSeed reads a node to join: HOST:PORT, or HOST with defaultPort.
func parseSeed(written string, defaultPort uint16) (endpoint, error) {
	e, err := parseEndpoint(written)
	if isIP(written) || hostName.MatchString(written) {
		e, err = endpoint{written, defaultPort}, nil
	}
	if err != nil || e.host == "" || e.port == 0 {
		return e, fmt.Errorf("must be HOST:PORT such as 10.0.0.1:%d, with the gossip port of another node, got %q", defaultPort, printable(written))
	}
	return e, nil
}

// loopback reports whether only this machine can reach e.
func (e endpoint) loopback() bool {
	ip, err := netip.ParseAddr(e.host)
	return e.host == "localhost" || err == nil && ip.Unmap().IsLoopback()
}

// wildcard reports whether e is every address of the machine.
func (e endpoint) wildcard() bool {
	ip, err := netip.ParseAddr(e.host)
	return e.host == "" || err == nil && ip.Unmap().IsUnspecified()
}

// clashes reports whether one machine cannot listen on both.
func (e endpoint) clashes(other endpoint) bool {
	return e.port != 0 && e.port == other.port &&
		(e.host == other.host || e.wildcard() || other.wildcard())
}

func isIP(host string) bool {
	_, err := netip.ParseAddr(host)
	return err == nil
}
