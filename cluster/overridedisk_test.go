package cluster

import (
	"context"
	"testing"
	"testing/synctest"
	"time"
)

// What is set is on disk when Set returns, whatever happens next.
func TestOverridesSurviveARestart(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		d := &disk{}
		a := overridesOf(t, "a", d)
		set(t, a, 1, "lasting", 0)
		set(t, a, 2, "an hour", time.Hour)
		set(t, a, 3, "a minute", time.Minute)
		set(t, a, 4, "removed", 0)
		remove(t, a, 4, true)
		a.shut()
		time.Sleep(30 * time.Minute)
		a = overridesOf(t, "a", d)
		shows(t, "half an hour later", "1=lasting 2=an hour", a)
		if o, _ := a.Get(numbered(2)); o.Left() != 30*time.Minute {
			t.Errorf("%v are left", o.Left())
		}
		b := overridesOf(t, "b", nil)
		tell(t, a, b)
		shows(t, "at another node", "1=lasting 2=an hour", b)
		if b.kept()[numbered(4)] == nil {
			t.Error("the removal is forgotten")
		}
	})
}

// What others have set is saved a moment after it is in force.
func TestOverridesOfOthersAreSaved(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		d := &disk{}
		a, b := overridesOf(t, "a", nil), overridesOf(t, "b", d)
		for n := range 3 * saveAtOnce {
			set(t, a, n, "x", 0)
		}
		tell(t, a, b)
		synctest.Wait()
		if n := len(d.saved()); n != 3*saveAtOnce+1 {
			t.Errorf("%d are saved", n)
		}
		remove(t, a, 0, true)
		tell(t, a, b)
		b.shut()
		b = overridesOf(t, "b", d)
		if b.Len() < 3*saveAtOnce-1 {
			t.Errorf("%d are left", b.Len())
		}
	})
}

// A node that closes in peace saves what it has heard last.
func TestClosingSaves(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		d := &disk{broken: true}
		a, b := overridesOf(t, "a", nil), overridesOf(t, "b", d)
		set(t, a, 1, "x", 0)
		tell(t, a, b)
		synctest.Wait()
		d.setBroken(false)
		if err := b.Close(context.Background()); err != nil {
			t.Fatal(err)
		}
		shows(t, "saved", "1=x", overridesOf(t, "b", d))
		if _, err := b.Set(numbered(2), nil, 0); err == nil {
			t.Error("a closed node took an override")
		}
	})
}

func TestDiskThatFails(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		d := &disk{}
		a, b := overridesOf(t, "a", nil), overridesOf(t, "b", d)
		set(t, b, 1, "x", 0)
		d.setBroken(true)
		if _, err := b.Set(numbered(1), []byte("y"), 0); err == nil {
			t.Error("set without a disk")
		}
		if _, err := b.Remove(numbered(1)); err == nil {
			t.Error("removed without a disk")
		}
		shows(t, "nothing has changed", "1=x", b)
		set(t, a, 2, "from elsewhere", 0)
		tell(t, a, b)
		shows(t, "what others set holds", "1=x 2=from elsewhere", b)
		time.Sleep(10 * saveAgain)
		d.setBroken(false)
		time.Sleep(2 * saveAgain)
		b.shut()
		shows(t, "and is saved later", "1=x 2=from elsewhere", overridesOf(t, "b", d))
	})
}

// What a node knows of removals that it has forgotten survives too, and the
// store does not grow.
func TestForgettingIsSaved(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		d := &disk{}
		a, away := overridesOf(t, "a", d), overridesOf(t, "away", nil)
		set(t, a, 1, "x", 0)
		set(t, a, 2, "y", 0)
		tell(t, a, away)
		remove(t, a, 1, true)
		time.Sleep(endedLife + 2*forgetEvery)
		remove(t, a, 2, true)
		a.shut()
		time.Sleep(endedLife + time.Second)
		a = overridesOf(t, "a", d)
		tell(t, away, a)
		shows(t, "long removed", "", a)
		time.Sleep(endedLife + 2*forgetEvery)
		if n := len(d.saved()); n != 1 {
			t.Errorf("%d records are saved, want the floor", n)
		}
	})
}

// Records that were not written here, or by a later version, change nothing.
func TestSavedThatCannotBeRead(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		d := &disk{}
		a := overridesOf(t, "a", d)
		set(t, a, 1, "x", 0)
		a.shut()
		if err := d.Put(map[string][]byte{
			"short": {1}, "empty": {}, "format": append(make([]byte, 8), overrideFormat+1), floorKey: {1, 2},
		}); err != nil {
			t.Fatal(err)
		}
		shows(t, "the others", "1=x", overridesOf(t, "a", d))
	})
}
