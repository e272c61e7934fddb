package cluster

import (
	"crypto/rand"
	"strings"
)

// bootNameChars is how much of a random text tells the boots of one id
// apart: 60 bits.
const bootNameChars = 12

// bootName is the name of this boot in gossip. It is new with every boot,
// because memberlist takes long to accept a known name at a new address.
func bootName(id string) string {
	return id + "." + strings.ToLower(rand.Text()[:bootNameChars])
}
