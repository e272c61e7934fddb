package transport

import (
	"errors"
	"sync"
	"time"
)

// maxZones bounds the zones remembered. The time zone database has about 600
// names; past the bound a zone is loaded anew for each call.
const maxZones = 1024

var errZone = errors.New("not the name of a time zone that every node can load")

// zones remembers time zones by name: loading one reads a file.
type zones struct {
	mu     sync.RWMutex
	byName map[string]*time.Location
}

// find returns the zone, which must be named in the time zone database:
// "Local" would be another zone on every node.
func (z *zones) find(name []byte) (*time.Location, error) {
	z.mu.RLock()
	zone := z.byName[string(name)]
	z.mu.RUnlock()
	if zone != nil {
		return zone, nil
	}
	if len(name) == 0 || len(name) > maxZoneBytes || string(name) == time.Local.String() {
		return nil, errZone
	}
	zone, err := time.LoadLocation(string(name))
	if err != nil {
		return nil, errZone
	}
	z.mu.Lock()
	defer z.mu.Unlock()
	if z.byName == nil {
		z.byName = make(map[string]*time.Location)
	}
	if len(z.byName) < maxZones {
		z.byName[string(name)] = zone
	}
	return zone, nil
}
