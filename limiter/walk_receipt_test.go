package limiter_test

import "github.com/murmurate/murmurate/limiter"

// maxWalkReceipts bounds the receipts of one walk, which take room too.
const maxWalkReceipts = 5

// walkReceipt is a charge of a walk that can be settled.
type walkReceipt struct {
	call limiter.Call
	at   int64 // when it was charged, of Instant.Mono
}

// open gives a take a receipt, now and then. What drains by other limits than
// those of the receipt has no right answer, so there are none where limits
// change.
func (w *walk) open(call *limiter.Call) {
	if !w.steady || len(w.receipts) == maxWalkReceipts || w.choose(2) == 0 {
		return
	}
	w.tried++
	call.Receipt = limiter.ReceiptID{Hi: 1 << 40, Lo: uint64(w.tried)}
	for i := range call.Charges {
		call.Charges[i].Cost = min(call.Charges[0].Cost, limiter.MaxCount)
	}
}

// keep is told of a call that was charged.
func (w *walk) keep(call *limiter.Call) {
	if call.Receipt != (limiter.ReceiptID{}) {
		w.receipts = append(w.receipts, walkReceipt{*call, w.clock})
	}
}

// settlement is a call that settles one of the walk's receipts, be it for the
// second time.
func (w *walk) settlement() (limiter.Call, bool) {
	if len(w.receipts) == 0 {
		return limiter.Call{}, false
	}
	r := &w.receipts[w.choose(int64(len(w.receipts)))]
	if w.clock-r.at > int64(limiter.ReceiptLife) {
		return limiter.Call{}, false
	}
	call := r.call
	call.Op, call.Hold, call.Charged = limiter.Settle, limiter.HoldID{}, call.Charges[0].Cost
	actual := pick(w, 0, call.Charged, call.Charged-1, call.Charged/2, call.Charged+1, call.Charged+5, w.last.Remaining)
	call.Charges = append([]limiter.Charge(nil), call.Charges...)
	for i := range call.Charges {
		call.Charges[i].Cost = max(actual, 0)
	}
	return call, true
}
