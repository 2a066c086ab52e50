package insight

import (
	"fmt"
	"strings"
)

// onceTitle is the title of what is read as a whole and only gone through once.
const onceTitle = "What is read as a whole is only gone through once"

// sinksTitle is that of what is given to several that each go through it.
const sinksTitle = "What is read as a whole could be streamed"

var wayTexts = map[wayThrough]string{
	inParts:   "it is gone through here, a part after the other",
	inLines:   "it is gone through here, a line after the other",
	inStream:  "it is gone through here, from its beginning to its end",
	inHash:    "it is hashed here",
	inWrite:   "it is written here",
	inWrites:  "it is written here, and to others as a whole",
	inChecked: "it is hashed here, and written below if the sum is right",
	inSinks:   "it is gone through here from its beginning to its end, and behind it again",
}

// source is what is read, for the advice: a file that could be opened, or the reader that is there; with the words that name it first.
func (p passage) source() (from, first string) {
	switch {
	case p.file && p.by != "":
		return "f", fmt.Sprintf("Open the file (os.Open) where %s reads it, for instance by a second function beside it that returns the open file f, and ", p.by)
	case p.file:
		return "f", "Open the file (f, err := os.Open) and "
	}
	return "r", ""
}

// advice is how to read it instead.
func (p passage) advice() string {
	from, first := p.source()
	begin := func(verb string) string {
		if first == "" {
			return strings.ToUpper(verb[:1]) + verb[1:]
		}
		return first + verb
	}
	const buffer = " Then 32 KiB of it are in memory at a time, however long it is."
	switch p.way {
	case inHash:
		if call := rereads(p.to) == rereadHash; call || p.to == "" {
			return begin(fmt.Sprintf("copy it into the hash instead of reading it first: io.Copy(h, %s), with h of the hash's New, and h.Sum at the end.", from)) + buffer
		}
		return begin(fmt.Sprintf("copy it into the hash instead of reading it first: io.Copy(%s, %s).", p.to, from)) + buffer
	case inWrite:
		to := p.to
		if to == "" {
			to = "w"
		}
		return begin(fmt.Sprintf("copy it instead of reading it first: io.Copy(%s, %s).", to, from)) + buffer
	case inWrites, inSinks:
		return begin(fmt.Sprintf("stream it instead of reading it first: io.Copy(io.MultiWriter(w, h), %s), with the files or connections that it is written to and a hash (its New) for each sum; or an io.TeeReader where one of them reads.", from)) + buffer + " io.Copy returns the length."
	case inChecked:
		return begin(fmt.Sprintf("stream it into a temporary file beside the one that it is for, and into the hash on the way: io.Copy(io.MultiWriter(f, h), %s). Compare the sum then, and rename the file (os.Rename) if it is right, or else remove it.", from)) + buffer
	case inParts:
		return "Read a part at a time where it is needed: io.ReadFull into one buffer of the size of a part (the last one is shorter: io.ErrUnexpectedEOF). Then one part of it is in memory at a time."
	case inLines:
		return "Read a line at a time: a bufio.Scanner (Buffer allows lines longer than 64 KiB) or a bufio.Reader with ReadBytes. Then one line of it is in memory at a time."
	}
	to := "what reads it"
	if p.to != "" {
		to = p.to
	}
	if p.file {
		return first + fmt.Sprintf("give it to %s, instead of a reader of what was read. Then a buffer of it is in memory at a time.", to)
	}
	return fmt.Sprintf("Give the reader itself to %s, instead of a reader of what was read. Then a buffer of it is in memory at a time.", to)
}

// doubts are what speaks against it.
func (p passage) doubts() (all []string) {
	switch p.way {
	case inChecked:
		return append(all, "the file is on the disk before it is known to be right: under a name of its own, nobody takes it for the other")
	case inWrites, inSinks:
		return append(all, "with a stream a failure in the middle comes when a part has been written already (write to another file and rename it at the end, if that matters), and the length and the sums are known only at the end")
	case inParts:
		all = append(all, "what a part is handed to must not keep it when it returns: then each part needs a buffer of its own")
	case inWrite:
		if !p.file {
			all = append(all, "if both may be the same file, write another one and rename it")
		}
	case inLines:
		all = append(all, "a Scanner's Bytes are overwritten by the next line (Text is a copy), and it leaves out a carriage return at the end of a line and the empty piece behind the last newline")
	}
	return append(all, "with a reader an error comes in the middle: if nothing may be done before all has arrived, write it to a file first")
}

// conditions are what the source shows that has to be minded.
func (p passage) conditions() (text string) {
	if p.file && (p.way == inWrite || p.way == inWrites || p.way == inSinks) {
		text = sameFile
	}
	if p.way != inHash && p.way != inChecked { // these wait for nothing but the reading
		text += p.limit
	}
	return text
}

// tell makes a finding about a line that reads something as a whole say what needs less memory.
func (p passage) tell(f *Finding) {
	f.Title = onceTitle
	does := "only gone through once,"
	if p.way == inWrites || p.way == inSinks || p.way == inChecked {
		f.Title, does = sinksTitle, "only given to what could take a stream of it, first"
	}
	f.Summary += fmt.Sprintf("; according to the source it is read as a whole and then %s at %s:%d", does, baseName(p.at.File), p.at.Line)
	f.Advice = p.advice() + p.conditions()
	f.Doubts = append(f.Doubts, p.doubts()...)
	if !shows(f, evidenceLine(p.at)) {
		f.Evidence = append(f.Evidence, p.at)
	}
}
