package policy

import (
	_ "embed"
	"fmt"
	"strings"
	"time"
)

// zoneNames are the zones that people live in, one a line, from zone.tab of
// the IANA time zone database (public domain). They only serve to suggest a
// name; any zone that the machine or the program knows is accepted.
//
//go:embed zones.txt
var zoneNames string

// parseZone returns the time zone with an IANA name. "Local" is refused: a
// limit must mean the same on every node.
func parseZone(name string) (*time.Location, error) {
	if name != "Local" {
		if zone, err := time.LoadLocation(name); err == nil {
			return zone, nil
		}
	}
	return nil, fmt.Errorf("there is no time zone %q; write a name of the IANA database such as America/Sao_Paulo%s",
		clip(name), didYouMean(name, strings.Fields(zoneNames)))
}
