package collect

import (
	"context"
	"errors"
	"os"
	"time"

	"loupe/format/profile"
	"loupe/recording"
)

// A program that ends after a fraction of a second leaves a CPU profile with a few dozen samples, whose shares are uncertain by ten points and more.
// It is run again, within the length of the phase, and the profiles of its lives are added up.

// Chosen. Of 300 samples a share is known to within six points; fewer than 100 in all the lives that fit into the phase would not be worth their time.
const (
	enoughSamples = 300
	worthSamples  = 100
	mostLives     = 20
	mostOfLife    = 64 << 20 // bytes of the profile of a life that leaves too few samples
)

// moreLives runs a program again that has been profiled for a life as long as the profile has too little and the phase is not over, and puts the sum
// of the profiles into the file. What it does not understand, or what is unlike the first life, ends it; the file then has the sum of those before, and the
// phase ends with these.
func moreLives(ctx context.Context, r *Recorder, p Phase, phase *recording.Phase, file string) {
	sum, err := readProfile(file)
	if err != nil {
		return // as it is
	}
	first := r.lastRun()
	if !endedWell(first) {
		return
	}
	next := file + ".next"
	defer os.Remove(next)
	lives, end := 1, r.w.Now()
	for wantsMore(sum, lives, r.w.Now().Sub(phase.Span.Start), p.For) {
		again(r)
		if lives == 1 {
			r.opt.Progress("phase %s: it ends soon, and is run again for more samples (-phases cpu:1ms runs it once)", p.Name)
		}
		phase.Lives = lives + 1
		r.w.SetPhase(*phase) // who tells of that process asks which phase it is of
		own, instead, err := oneLife(ctx, r, p.Name, next)
		if err != nil || instead || own != 0 || ctx.Err() != nil || !alike(first, r.lastRun()) {
			break
		}
		more, err := readProfile(next)
		if err != nil {
			break
		}
		if more, err = profile.Merge(sum, more); err != nil {
			break
		}
		sum, lives, end = more, lives+1, r.w.Now()
	}
	phase.Lives = 0
	if lives > 1 {
		if err := writeProfile(sum, file); err != nil {
			return // it has that of the first
		}
		phase.Lives = lives
	}
	phase.Span.End = end
}

// wantsMore tells whether another life has room in a phase of some length, of which so many lives took so long, and whether those that have room come to
// a profile of some use.
func wantsMore(sum *profile.Profile, lives int, took, length time.Duration) bool {
	index, err := sum.Index("samples")
	if err != nil || sum.Total(index) >= enoughSamples {
		return false
	}
	each := max(1, took/time.Duration(lives))
	fit := min(mostLives, int64(length/each))
	return int64(lives) < fit && sum.Total(index)*fit >= int64(worthSamples*lives)
}

// endedWell tells of a life that it did not crash: a tool that looks for faults ends with 1 where it has found some.
func endedWell(r recording.Run) bool {
	return !r.Stopped && (r.Exit == "exit status 0" || r.Exit == "exit status 1")
}

// alike tells whether a life ended as the first one, and after as much work.
func alike(first, later recording.Run) bool {
	return first.Exit == later.Exit && first.Stopped == later.Stopped && !didOtherWork(first.User, later.User)
}

// readProfile reads a profile that the agent has written.
func readProfile(file string) (*profile.Profile, error) {
	data, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	return profile.Decode(data, profile.Options{MaxBytes: mostOfLife})
}

// writeProfile puts a profile in the place of a file, or leaves that as it is.
func writeProfile(p *profile.Profile, file string) error {
	f, err := os.Create(file + ".sum")
	if err != nil {
		return err
	}
	defer os.Remove(f.Name())
	if err := errors.Join(p.Encode(f), f.Close()); err != nil {
		return err
	}
	return os.Rename(f.Name(), file)
}
