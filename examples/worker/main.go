// Worker sends messages through a provider that permits a number of them a
// second. Any number of goroutines may send: Wait lets each through when it
// is its turn. With -join, all workers of a cluster keep to the rate together.
//
//	go run ./examples/worker -messages 30 -rate 10/s
package main

import (
	"context"
	"flag"
	"fmt"
	"log"
	"strings"
	"sync"
	"time"

	"github.com/murmurate/murmurate"
	"github.com/murmurate/murmurate/cluster"
	"github.com/murmurate/murmurate/limiter"
	"github.com/murmurate/murmurate/policy"
)

func main() {
	messages := flag.Int("messages", 30, "how many to send")
	senders := flag.Int("senders", 4, "how many goroutines send")
	rate := flag.String("rate", "10/s", "what the provider permits")
	join := flag.String("join", "", "gossip addresses of the cluster that counts; without, this process counts for itself")
	flag.Parse()

	if err := run(*messages, *senders, *rate, *join); err != nil {
		log.Fatal(err)
	}
}

func run(messages, senders int, rate, join string) error {
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Minute)
	defer cancel()
	node, err := start(ctx, rate, join)
	if err != nil {
		return err
	}
	begin := time.Now()
	sent := sendAll(ctx, node, messages, senders)
	fmt.Printf("sent %d messages in %.1f s\n", sent, time.Since(begin).Seconds())
	return node.Close(ctx)
}

// start makes a node of its own, or a client of a cluster: it owns no keys,
// so workers may come and go.
func start(ctx context.Context, rate, join string) (*murmurate.Node, error) {
	parsed, err := policy.ParseRate(rate)
	if err != nil {
		return nil, fmt.Errorf("-rate %q: %w", rate, err)
	}
	limit := limiter.Per(parsed.Count, parsed.Length).WithBurst(1) // evenly, not all at once
	set, err := policy.NewSet(policy.Policy{Name: "provider", Limits: []limiter.Limit{limit}})
	if err != nil {
		return nil, err
	}
	if join == "" {
		return murmurate.Start(ctx, murmurate.Options{Alone: true, Policies: set})
	}
	return murmurate.Start(ctx, murmurate.Options{
		Role: cluster.RoleClient, Gossip: "127.0.0.1:0", Peer: "127.0.0.1:0",
		Join: strings.Split(join, ","), Policies: set,
	})
}

// sendAll sends messages with the given number of goroutines and returns how
// many were sent.
func sendAll(ctx context.Context, node *murmurate.Node, messages, senders int) int {
	queue := make(chan int)
	sent := make(chan int, messages)
	var working sync.WaitGroup
	for range senders {
		working.Go(func() {
			for message := range queue {
				if _, err := node.Wait(ctx, "provider", "mail"); err != nil {
					log.Printf("message %d is not sent: %v", message, err)
					continue
				}
				sent <- message // the call of the provider would be here
			}
		})
	}
	for message := range messages {
		queue <- message
	}
	close(queue)
	working.Wait()
	return len(sent)
}
