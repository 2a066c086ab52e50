package insight

import "fmt"

// onceTitle is the title of what is read as a whole and only gone through once.
const onceTitle = "What is read as a whole is only gone through once"

// sinksTitle is that of what is given to several that each go through it.
const sinksTitle = "What is read as a whole could be streamed"

var wayTexts = map[wayThrough]string{
	inParts:  "it is gone through here, a part after the other",
	inLines:  "it is gone through here, a line after the other",
	inStream: "it is gone through here, from its beginning to its end",
	inHash:   "it is hashed here",
	inWrite:  "it is written here",
	inWrites: "it is written here, and to others as a whole",
	inSinks:  "it is gone through here from its beginning to its end, and behind it again",
}

// advice is how to read it instead.
func (p passage) advice() string {
	switch p.way {
	case inHash:
		return "Copy it into the hash instead of reading it first: io.Copy(h, r), with h of the hash's New. Then 32 KiB of it are in memory at a time."
	case inWrite:
		return "Copy it instead of reading it first: io.Copy(w, r). Then 32 KiB of it are in memory at a time."
	case inWrites, inSinks:
		return "Stream it instead of reading it first: io.Copy(io.MultiWriter(f, h), r), with the files or connections that it is written to and a hash (its New) for each sum; or an io.TeeReader where one of them reads. Then 32 KiB of it are in memory at a time, however long it is. io.Copy returns the length."
	case inParts:
		return "Read a part at a time where it is needed: io.ReadFull into one buffer of the size of a part (the last one is shorter: io.ErrUnexpectedEOF). Then one part of it is in memory at a time."
	case inLines:
		return "Read a line at a time: a bufio.Scanner (Buffer allows lines longer than 64 KiB) or a bufio.Reader with ReadBytes. Then one line of it is in memory at a time."
	}
	return "Hand on the reader itself (of a file, os.Open) instead of a reader of what was read. Then a buffer of it is in memory at a time."
}

// doubts are what speaks against it.
func (p passage) doubts() (all []string) {
	switch p.way {
	case inWrites, inSinks:
		return append(all, "with a stream a failure in the middle comes when a part has been written already (write to another file and rename it at the end, if that matters), and the length and the sums are known only at the end")
	case inParts:
		all = append(all, "what a part is handed to must not keep it when it returns: then each part needs a buffer of its own")
	case inLines:
		all = append(all, "a Scanner's Bytes are overwritten by the next line (Text is a copy), and it leaves out a carriage return at the end of a line and the empty piece behind the last newline")
	case inWrite:
		all = append(all, "if both may be the same file, write another one and rename it")
	}
	return append(all, "with a reader an error comes in the middle: if nothing may be done before all has arrived, write it to a file first")
}

// tell makes a finding about a line that reads something as a whole say what needs less memory.
func (p passage) tell(f *Finding) {
	f.Title = onceTitle
	does := "only gone through once,"
	if p.way == inWrites || p.way == inSinks {
		f.Title, does = sinksTitle, "only given to what could take a stream of it, first"
	}
	f.Summary += fmt.Sprintf("; according to the source it is read as a whole and then %s at %s:%d", does, baseName(p.at.File), p.at.Line)
	f.Advice = p.advice()
	f.Doubts = append(f.Doubts, p.doubts()...)
	if !shows(f, evidenceLine(p.at)) {
		f.Evidence = append(f.Evidence, p.at)
	}
}
