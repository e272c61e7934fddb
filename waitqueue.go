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

// join returns when the caller is the first in the queue of key, who then
// leaves it with leave, or with an error when ctx ends or closing is closed.
func (q *waitQueues) join(ctx context.Context, closing <-chan struct{}, key queueKey) (leave func(), err error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	own := q.enter(key)
	select {
	case own.head <- struct{}{}:
		return func() {
			<-own.head
			q.exit(key, own)
		}, nil
	case <-ctx.Done():
		err = ctx.Err()
	case <-closing:
		err = ErrClosed
	}
	q.exit(key, own)
	return nil, err
}

func (q *waitQueues) enter(key queueKey) *waitQueue {
	q.mu.Lock()
	defer q.mu.Unlock()
	own := q.byKey[key]
	if own == nil {
		if q.byKey == nil {
			q.byKey = make(map[queueKey]*waitQueue)
		}
		own = &waitQueue{head: make(chan struct{}, 1)}
		q.byKey[key] = own
	}
	own.members++
	return own
}

func (q *waitQueues) exit(key queueKey, own *waitQueue) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if own.members--; own.members == 0 {
		delete(q.byKey, key)
	}
}
