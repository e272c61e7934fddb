package httpapi

import (
	"errors"
	"fmt"
	"net/http"
	"strconv"

	"github.com/murmurate/murmurate/policy"
)

// maxBatch bounds the checks of one batch.
const maxBatch = 1000

var (
	checkNames  = []string{"policy", "key", "attributes", "limit", "cost", "peek", "receipt"}
	limitNames  = []string{"name", "algorithm", "rate", "count", "period", "ttl", "burst", "align", "timezone", "anchor", "unit"}
	batchNames  = []string{"checks"}
	settleNames = []string{"receipt", "cost"}
)

// checkRequest is one check as asked for.
type checkRequest struct {
	policy.Request
	// free is set when the cost is 0: nothing is charged, and the answer is
	// that to a call of cost 1. A Request's cost 0 means the default instead.
	free bool
}

// readCheck reads a check by decode, with what the node knows of its
// attributes. If that fails it has answered, and ok is false.
func (a *API) readCheck(x *exchange, w http.ResponseWriter, r *http.Request, decode func([]byte) (checkRequest, error)) (c checkRequest, ok bool) {
	if c, ok = decodeBody(x, w, r, decode); !ok {
		return c, false
	}
	if err := c.complete(a.client.prefixes, a.node.Policies()); err != nil {
		writeProblem(w, problemOf(err))
		return c, false
	}
	return c, true
}

// complete gives the attributes of c what the node knows of them. An error is
// for one that was likely meant for another.
func (c *checkRequest) complete(by prefixBits, set *policy.Set) error {
	told, ok := c.Attributes.(*attributes)
	if !ok {
		return nil
	}
	told.prefixes = by
	var first, write string
	for name := range told.others {
		if meant := set.MisspeltAttribute(name); meant != "" && (first == "" || name < first) {
			first, write = name, meant
		}
	}
	if first == "" {
		return nil
	}
	return fault("attributes."+first, "is an attribute that no policy uses, and a letter away from what requests have: write "+write)
}

// decodeCheck reads the body of a check. It judges form; what the values
// mean, and whether a field is missing, is judged when the policy is looked
// up.
func decodeCheck(data []byte) (checkRequest, error) {
	r, err := newReader(data)
	if err != nil {
		return checkRequest{}, err
	}
	return r.check(checkNames)
}

// check reads a check that may have the given fields.
func (r *reader) check(names []string) (checkRequest, error) {
	var c checkRequest
	costGiven := false
	err := r.object(names, func(name string) (err error) {
		switch name {
		case "policy":
			c.Policy, err = r.text(name)
		case "key":
			c.Key, err = r.text(name)
		case "attributes":
			c.Attributes, err = r.attributes()
		case "limit":
			err = r.limit(&c.Request)
		case "cost":
			costGiven = true
			c.Cost, err = r.integer(name)
		case "peek":
			c.Peek, err = r.boolean(name)
		case "ttl_ms":
			c.TTL, err = r.ttl(name)
		case "receipt":
			c.Receipt, err = r.boolean(name)
		}
		return err
	})
	if err == nil && c.Peek && c.Receipt {
		err = fault("receipt", "must not be asked for with peek, which decides nothing; cost 0 looks now and is charged when it is settled")
	}
	if err == nil && c.Attributes != nil && c.Limit != nil {
		err = fault("attributes", "must be empty when the check brings its own limit")
	}
	if costGiven && c.Cost == 0 {
		c.free, c.Peek, c.Cost = true, true, 1
	}
	return c, err
}

// settlement is the body of POST /v1/settle.
type settlement struct {
	receipt string
	cost    int64
}

func decodeSettlement(data []byte) (settlement, error) {
	var s settlement
	r, err := newReader(data)
	if err != nil {
		return s, err
	}
	given := 0
	err = r.object(settleNames, func(name string) (err error) {
		given++
		if name == "cost" {
			s.cost, err = r.integer(name)
		} else {
			s.receipt, err = r.text(name)
		}
		return err
	})
	if err == nil && given < len(settleNames) {
		err = fault("", "must hold the receipt of a check, and the cost that it really had")
	}
	return s, err
}

// limit reads a check's own limit.
func (r *reader) limit(to *policy.Request) error {
	var spec policy.LimitSpec
	err := r.object(limitNames, func(name string) error { return r.specField(&spec, name) })
	if err != nil {
		return within("limit", err)
	}
	limit, err := spec.Limit()
	if err != nil {
		return within("limit", err)
	}
	to.Limit = &limit
	return nil
}

// specField reads one of limitNames.
func (r *reader) specField(spec *policy.LimitSpec, name string) (err error) {
	switch name {
	case "name":
		spec.Name, err = r.text(name)
	case "algorithm":
		spec.Algorithm, err = r.text(name)
	case "rate":
		spec.Rate, err = r.text(name)
	case "count":
		spec.Count, err = r.optional(name)
	case "period":
		spec.Period, err = r.text(name)
	case "ttl":
		spec.TTL, err = r.text(name)
	case "burst":
		spec.Burst, err = r.optional(name)
	case "align":
		spec.Align, err = r.text(name)
	case "timezone":
		spec.Timezone, err = r.text(name)
	case "anchor":
		spec.Anchor, err = r.optional(name)
	case "unit":
		spec.Unit, err = r.text(name)
	}
	return err
}

// optional reads an integer whose absence means something else than 0. One
// beyond int64 is read as the nearest: the limit that it belongs to has
// narrower bounds, and names them.
func (r *reader) optional(field string) (*int64, error) {
	n, _, err := r.number(field)
	if errors.Is(err, strconv.ErrRange) {
		err = nil
	}
	return &n, err
}

// batchItem is one item of a batch: a check, or why it is none.
type batchItem struct {
	checkRequest
	err error
}

// decodeBatch reads the body of a batch. Only faults of the batch itself are
// errors; those of an item stay with the item.
func decodeBatch(data []byte) ([]batchItem, error) {
	r, err := newReader(data)
	if err != nil {
		return nil, err
	}
	var items []batchItem
	err = r.object(batchNames, func(name string) error {
		return r.array(name, func(i int) error {
			if i == maxBatch {
				return errTooMany
			}
			var item batchItem
			// A reader of its own: after a fault it stands anywhere.
			item.checkRequest, item.err = (&reader{data: r.value()}).check(checkNames)
			items = append(items, item)
			return nil
		})
	})
	if err == nil && len(items) == 0 {
		err = fault("checks", fmt.Sprintf("must hold 1 to %d checks", maxBatch))
	}
	return items, err
}

var errTooMany = fault("checks", fmt.Sprintf("must hold at most %d checks; send the others in another batch", maxBatch))
