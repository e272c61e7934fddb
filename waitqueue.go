package murmurate

import (
	"context"
	"sync"
)

// waitQueues line up those who wait for the same key: only the first of them
// asks, so a hundred who wait cost no more checks than one, and each unit
// goes to whoever came first. The zero value is empty.
type waitQueues struct {
	mu    sync.Mutex
	byKey map[queueKey]*waitQueue // those that somebody is in
}

type queueKey struct{ policy, key string }

type waitQueue struct {
	// head is held by the first: a send takes its place. Go serves blocked
	// senders in the order in which they came.
	head    chan struct{}
	members int // guarded by waitQueues.mu
}

// place is that of one who waits. It must be left.
type place struct {
	queues *waitQueues
	key    queueKey
	queue  *waitQueue
	held   bool // it is the first
}

// enter puts the caller at the end of the queue of key.
func (q *waitQueues) enter(key queueKey) *place {
	q.mu.Lock()
	defer q.mu.Unlock()
	queue := q.byKey[key]
	if queue == nil {
		if q.byKey == nil {
			q.byKey = make(map[queueKey]*waitQueue)
		}
		queue = &waitQueue{head: make(chan struct{}, 1)}
		q.byKey[key] = queue
	}
	queue.members++
	return &place{queues: q, key: key, queue: queue}
}

// first takes the first place if nobody has it.
func (p *place) first() bool {
	select {
	case p.queue.head <- struct{}{}:
		p.held = true
	default:
	}
	return p.held
}

// wait returns when the caller is the first, or with an error when ctx ends
// or closing is closed.
func (p *place) wait(ctx context.Context, closing <-chan struct{}) error {
	select {
	case p.queue.head <- struct{}{}:
		p.held = true
		return nil
	case <-ctx.Done():
		return ctx.Err()
	case <-closing:
		return ErrClosed
	}
}

// leave lets the next one be the first, if the caller was.
func (p *place) leave() {
	if p.held {
		<-p.queue.head
	}
	p.queues.mu.Lock()
	defer p.queues.mu.Unlock()
	if p.queue.members--; p.queue.members == 0 {
		delete(p.queues.byKey, p.key)
	}
}
