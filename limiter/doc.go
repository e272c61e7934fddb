// Package limiter knows what a limit means: the algorithms as pure functions
// of (state, now, limit, cost), and the sharded table that holds the state.
//
// A [Call] names a subject and the limits to charge. [Table.Do] finds the
// subject's shard, locks it, lets every limit's algorithm judge the call
// against the stored state, and only if all admit it writes the new states
// back. Each limit answers with a [Result].
//
// Decisions are exact: integer arithmetic, 128 bits wide where needed, no
// floating point. State stores what was spent, never what is left, and knows
// nothing of the limit, so a changed count or burst takes effect at once and
// keeps what was spent. Time is an argument; a table's clock never runs back.
//
// A request that several tables decide together reserves its units first
// ([Hold]) and charges them once all have agreed ([Confirm]), or gives them
// back ([Cancel]).
//
// A limit that has denied can go on denying for a while ([Charge.Cooldown]),
// so that whoever floods or guesses is slowed down.
//
// A [Concurrency] limit has slots instead of units. A lease occupies one of each
// ([Acquire]), renews them ([Renew]) and frees them ([Release]); those of a
// holder that is gone come back by themselves.
//
// A charge can be an estimate, which is settled when the real cost is known
// ([Settle]): what is missing becomes debt, and what is too much is given back
// as far as it still counts.
//
// What is not promised: the table does not survive the process, and a full
// table refuses new subjects ([ErrFull]) rather than forget a live one.
package limiter
