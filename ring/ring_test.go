package ring

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func ids(n int) []string {
	s := make([]string, n)
	for i := range s {
		s[i] = fmt.Sprintf("node-%d", i)
	}
	return s
}

func build(t testing.TB, ids []string) *Ring {
	t.Helper()
	r, err := Build(ids)
	if err != nil {
		t.Fatalf("Build(%d ids): %v", len(ids), err)
	}
	return r
}

// The digests are part of the protocol: nodes whose digests differ for the
// same members would send one key to two owners.
func TestDigestIsPinned(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		ids  []string
		want uint64
	}{
		{nil, 0x5f5fe4a6f838892d},
		{[]string{"n1"}, 0x62809e0a5f1c5ff4},
		{[]string{"n1", "n2", "n3"}, 0xb068a413531148dd},
		{[]string{"a", "db-long-name-0.example.internal", "b1", "zz-7381"}, 0x448eca918fa65d4f},
		{ids(101), 0xc2ed2adf58986845},
	} {
		if got := build(t, tc.ids).Digest(); got != tc.want {
			t.Errorf("digest of %d ids = %#x, want %#x", len(tc.ids), got, tc.want)
		}
	}
	if got, want := Parameters(), uint64(0xc7c9a873b7efd3b0); got != want {
		t.Errorf("Parameters() = %#x, want %#x", got, want)
	}
}

func TestBuildIgnoresHistory(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		set := rapid.SliceOfNDistinct(rapid.StringMatching(`[a-z0-9.-]{1,12}`), 1, 12, rapid.ID[string]).Draw(t, "ids")
		shuffled := rapid.Permutation(set).Draw(t, "order")
		repeated := append(slices.Clone(shuffled), rapid.SliceOfN(rapid.SampledFrom(set), 0, 5).Draw(t, "repeated")...)
		want, err := Build(set)
		if err != nil {
			t.Fatal(err)
		}
		got, err := Build(repeated)
		if err != nil {
			t.Fatal(err)
		}
		if !slices.Equal(got.Members(), want.Members()) || got.owners != want.owners || got.Digest() != want.Digest() {
			t.Fatalf("Build(%q) differs from Build(%q)", repeated, set)
		}
	})
}

func TestBuildLeavesItsArgumentAlone(t *testing.T) {
	t.Parallel()
	given := []string{"c", "a", "b", "a"}
	build(t, given)
	if want := []string{"c", "a", "b", "a"}; !slices.Equal(given, want) {
		t.Errorf("Build changed its argument to %q", given)
	}
}

func TestBuildRefuses(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		name string
		ids  []string
		want string
	}{
		{"an empty id", []string{"a", ""}, "must not be empty"},
		{"more members than partitions", ids(MaxMembers + 1), "client role"},
	} {
		if _, err := Build(tc.ids); err == nil || !strings.Contains(err.Error(), tc.want) {
			t.Errorf("%s: error %v, want one that says %q", tc.name, err, tc.want)
		}
	}
}

func TestRingWithoutMembers(t *testing.T) {
	t.Parallel()
	r := build(t, nil)
	if len(r.Members()) != 0 {
		t.Errorf("Members() = %q", r.Members())
	}
	for _, p := range []int{0, Partitions - 1} {
		if got := r.Owner(p); got != -1 {
			t.Errorf("Owner(%d) = %d, want -1", p, got)
		}
	}
	if got := r.Owned(0); got != 0 {
		t.Errorf("Owned(0) = %v, want 0", got)
	}
}

// No member owns more than the load factor allows, and all partitions have
// an owner, at every size up to 1,000 members (those sizes at which rounding
// leaves the least room included).
func TestLoadIsBounded(t *testing.T) {
	t.Parallel()
	sizes := []int{1, 2, 3, 4, 5, 7, 10, 16, 33, 50, 99, 100, 101, 128, 250}
	if !testing.Short() {
		sizes = append(sizes, 409, 512, 819, 1000)
	}
	for _, n := range sizes {
		r := build(t, ids(n))
		most := math.Ceil(float64(Partitions) / float64(n) * loadFactor)
		total := 0.0
		for i := range n {
			owned := r.Owned(i)
			total += owned
			if owned*Partitions > most+1e-6 {
				t.Errorf("%d members: %s owns %.0f partitions, want at most %.0f", n, r.Members()[i], owned*Partitions, most)
			}
		}
		if math.Abs(total-1) > 1e-9 {
			t.Errorf("%d members own %v of the partitions together, want 1", n, total)
		}
	}
}

// A join moves about one share of the partitions, not most of them.
func TestJoinMovesFewPartitions(t *testing.T) {
	t.Parallel()
	for _, n := range []int{2, 3, 5, 10, 30} {
		before, after := build(t, ids(n)), build(t, ids(n+1))
		moved := 0
		for p := range Partitions {
			if before.Members()[before.Owner(p)] != after.Members()[after.Owner(p)] {
				moved++
			}
		}
		ideal := float64(Partitions) / float64(n+1)
		if float64(moved) > 2*ideal {
			t.Errorf("%d to %d members: %d partitions moved, want at most %.0f", n, n+1, moved, 2*ideal)
		}
	}
}

func TestPartition(t *testing.T) {
	t.Parallel()
	var r Ring
	const cell = math.MaxUint64 / Partitions // a partition's stretch of the 64 bits, rounded down
	for _, tc := range []struct {
		hi   uint64
		want int
	}{
		{0, 0},
		{cell, 0},
		{cell + 1, 1},
		{math.MaxUint64 / 2, Partitions / 2},
		{math.MaxUint64, Partitions - 1},
	} {
		if got := r.Partition(tc.hi); got != tc.want {
			t.Errorf("Partition(%#x) = %d, want %d", tc.hi, got, tc.want)
		}
	}
}

// Chi-squared over all partitions: uniform fingerprints fill them evenly.
func TestPartitionIsUniform(t *testing.T) {
	t.Parallel()
	const perPartition = 200
	var r Ring
	var counts [Partitions]int
	rng := rand.New(rand.NewPCG(1, 2))
	for range perPartition * Partitions {
		counts[r.Partition(rng.Uint64())]++
	}
	chi2 := 0.0
	for _, c := range counts {
		d := float64(c - perPartition)
		chi2 += d * d / perPartition
	}
	// Mean Partitions-1, standard deviation sqrt(2(Partitions-1)): six of them.
	if dof := float64(Partitions - 1); chi2 > dof+6*math.Sqrt(2*dof) {
		t.Errorf("chi-squared %.0f over %d partitions: not uniform", chi2, Partitions)
	}
}

func TestLookupDoesNotAllocate(t *testing.T) {
	r := build(t, ids(3))
	hi := uint64(0x9e3779b97f4a7c15)
	sum := 0
	if n := testing.AllocsPerRun(100, func() { sum += r.Owner(r.Partition(hi)) }); n != 0 {
		t.Errorf("a lookup allocates %v times", n)
	}
}

func BenchmarkLookup(b *testing.B) {
	r := build(b, ids(3))
	b.ReportAllocs()
	hi, sum := uint64(0), 0
	for b.Loop() {
		hi += 0x9e3779b97f4a7c15
		sum += r.Owner(r.Partition(hi))
	}
	_ = sum
}

func BenchmarkBuild(b *testing.B) {
	for _, n := range []int{3, 100, 1000} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			members := ids(n)
			for b.Loop() {
				build(b, members)
			}
		})
	}
}
