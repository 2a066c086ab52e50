package facts

import "loupe/session"

// Transfers are the system calls of the program that read and write, files, pipes and connections alike, in the
// bare phases.
type Transfers struct {
	Reads, ReadBytes   int64
	Writes, WriteBytes int64
}

// TransfersIn adds them up between the samples of the system. An error is that the recording has no such samples; all are
// 0 where the system does not count them.
func TransfersIn(f *Facts) (Transfers, error) {
	return session.Computed(f.session, "transfers", func(s *session.Session) (t Transfers, err error) {
		samples, err := s.OS()
		if err != nil {
			return t, err
		}
		for i := range f.Rounds {
			part := within(samples, f.Rounds[i].Phase.Span)
			for j := 1; j < len(part); j++ {
				a, b := part[j-1], part[j]
				if a.PID != b.PID || b.WriteCalls < a.WriteCalls || b.ReadCalls < a.ReadCalls {
					continue
				}
				t.Reads, t.ReadBytes = t.Reads+b.ReadCalls-a.ReadCalls, t.ReadBytes+b.ReadBytes-a.ReadBytes
				t.Writes, t.WriteBytes = t.Writes+b.WriteCalls-a.WriteCalls, t.WriteBytes+b.WriteBytes-a.WriteBytes
			}
		}
		return t, nil
	})
}
