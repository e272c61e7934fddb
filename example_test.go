package murmurate_test

import (
	"context"
	"fmt"
	"time"

	"github.com/murmurate/murmurate"
	"github.com/murmurate/murmurate/limiter"
	"github.com/murmurate/murmurate/policy"
)

// A node of its own: no listeners, no cluster.
func ExampleStart_alone() {
	ctx := context.Background()
	set, err := policy.NewSet(policy.Policy{Name: "api", Limits: []limiter.Limit{limiter.PerMinute(2)}})
	if err != nil {
		panic(err)
	}
	node, err := murmurate.Start(ctx, murmurate.Options{Alone: true, Policies: set})
	if err != nil {
		panic(err)
	}
	defer func() { _ = node.Close(ctx) }()

	for range 3 {
		d, err := node.Allow(ctx, "api", "user:42")
		if err != nil {
			fmt.Println("decided by the failure mode:", err)
		}
		fmt.Println(d.Allowed, d.Remaining, d.RetryAfter.Round(time.Second))
	}
	// Output:
	// true 1 0s
	// true 0 0s
	// false 0 30s
}

// Three nodes, as three instances of an application would run them. Whichever
// is asked, a key has one counter.
func ExampleStart_threeNodes() {
	ctx := context.Background()
	var nodes []*murmurate.Node
	var join []string
	for i := range 3 {
		node, err := murmurate.Start(ctx, murmurate.Options{
			Name: fmt.Sprint("instance-", i+1), Gossip: "127.0.0.1:0", Peer: "127.0.0.1:0", Join: join,
			Deadline: time.Second, // the default, 50 ms, is for machines that are not busy with tests
		})
		if err != nil {
			panic(err)
		}
		defer func() { _ = node.Close(ctx) }()
		nodes = append(nodes, node)
		join = []string{nodes[0].GossipAddr().String()}
	}
	for _, node := range nodes {
		for !node.Readiness().Ready || len(node.Members()) < 3 {
			time.Sleep(time.Millisecond)
		}
	}
	hourly := limiter.PerHour(2)
	for _, node := range nodes {
		d, err := node.Take(ctx, "user:42", hourly)
		if err != nil {
			panic(err)
		}
		fmt.Println(node.Name(), d.Allowed, d.Remaining, d.Source)
	}
	// Output:
	// instance-1 true 1 owner
	// instance-2 true 0 owner
	// instance-3 false 0 owner
}

// A worker that keeps to the rate of somebody else's API.
func ExampleNode_Wait() {
	ctx := context.Background()
	set, err := policy.NewSet(policy.Policy{Name: "mail", Limits: []limiter.Limit{limiter.PerSecond(20).WithBurst(1)}})
	if err != nil {
		panic(err)
	}
	node, err := murmurate.Start(ctx, murmurate.Options{Alone: true, Policies: set})
	if err != nil {
		panic(err)
	}
	defer func() { _ = node.Close(ctx) }()

	begin := time.Now()
	for range 5 {
		if _, err := node.Wait(ctx, "mail", "provider"); err != nil {
			fmt.Println("not sent:", err)
			return
		}
		// send it
	}
	fmt.Println("five messages, at least 200 ms:", time.Since(begin) >= 200*time.Millisecond)
	// Output: five messages, at least 200 ms: true
}

// A limit made in code, such as one that a customer's contract names.
func ExampleNode_Take() {
	ctx := context.Background()
	node, err := murmurate.Start(ctx, murmurate.Options{Alone: true})
	if err != nil {
		panic(err)
	}
	defer func() { _ = node.Close(ctx) }()

	contract := limiter.PerMinute(600).WithBurst(2).WithName("contract")
	for range 3 {
		d, err := node.Take(ctx, "customer:7", contract)
		if err != nil {
			panic(err)
		}
		fmt.Println(d.Allowed, d.Remaining)
	}
	// Output:
	// true 1
	// true 0
	// false 0
}

// complete is a call whose cost is known when it is done.
func complete(context.Context) int64 { return 812 }

// Tokens of a language model: 100 are estimated, 812 are used, and the next
// call waits until the debt has drained.
func ExampleNode_Settle() {
	ctx := context.Background()
	set, err := policy.NewSet(policy.Policy{Name: "tokens", Limits: []limiter.Limit{limiter.PerHour(30_000).WithBurst(100)}})
	if err != nil {
		panic(err)
	}
	node, err := murmurate.Start(ctx, murmurate.Options{Alone: true, Policies: set})
	if err != nil {
		panic(err)
	}
	defer func() { _ = node.Close(ctx) }()

	d, err := node.Check(ctx, policy.Request{Policy: "tokens", Key: "user:42", Cost: 100, Receipt: true})
	if err == nil && d.Allowed {
		used := complete(ctx) // what the request has really cost
		d, err = node.Settle(ctx, d.Receipt, used)
	}
	fmt.Println(d.Cost, d.Remaining, err)

	d, err = node.AllowN(ctx, "tokens", "user:42", 100)
	fmt.Println(d.Allowed, d.RetryAfter > time.Minute, err)
	// Output:
	// 812 0 <nil>
	// false true <nil>
}
