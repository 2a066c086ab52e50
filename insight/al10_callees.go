package insight

import (
	"fmt"
	"strings"

	"loupe/value/stack"
)

// libraryText is a function of the library that makes a text of bytes of its own, or bytes of a text, and what does the same without.
type libraryText struct {
	of      string // the function, without what is behind a "*"
	instead string
}

// libraryTexts are those of the standard library for which there is another function.
var libraryTexts = []libraryText{
	{"strconv.Itoa", "strconv.AppendInt(buf, int64(i), 10)"},
	{"strconv.FormatInt", "strconv.AppendInt"},
	{"strconv.FormatUint", "strconv.AppendUint"},
	{"strconv.FormatFloat", "strconv.AppendFloat"},
	{"strconv.FormatBool", "strconv.AppendBool"},
	{"strconv.QuoteToASCII", "strconv.AppendQuoteToASCII"},
	{"strconv.QuoteRune", "strconv.AppendQuoteRune"},
	{"strconv.Quote", "strconv.AppendQuote"},
	{"strconv.quoteWith", "strconv.AppendQuote"},
	{"strconv.formatBits", "strconv.AppendInt or AppendUint"},
	{"time.Time.Format", "Time.AppendFormat"},
	{"time.Time.String", "Time.AppendFormat"},
	{"time.Duration.String", "strconv.AppendInt or AppendFloat of the number that is wanted, with its unit"},
	{"fmt.Sprintf", "fmt.Appendf"},
	{"fmt.Sprintln", "fmt.Appendln"},
	{"fmt.Sprint", "fmt.Append"},
	{"encoding/hex.EncodeToString", "hex.AppendEncode (or hex.Encode into a buffer)"},
	{"encoding/hex.DecodeString", "hex.AppendDecode (or hex.Decode into a buffer)"},
	{"encoding/base64.(*Encoding).EncodeToString", "Encoding.AppendEncode (or Encode into a buffer)"},
	{"encoding/base64.(*Encoding).DecodeString", "Encoding.AppendDecode (or Decode into a buffer)"},
	{"encoding/base32.(*Encoding).EncodeToString", "Encoding.AppendEncode (or Encode into a buffer)"},
	{"encoding/base32.(*Encoding).DecodeString", "Encoding.AppendDecode (or Decode into a buffer)"},
	{"net/netip.Addr.String", "Addr.AppendTo"},
	{"net/netip.AddrPort.String", "AddrPort.AppendTo"},
	{"net/netip.Prefix.String", "Prefix.AppendTo"},
	{"net.IP.String", "netip.Addr and its AppendTo"},
	{"math/big.(*Int).String", "Int.Append"},
	{"math/big.(*Int).Text", "Int.Append"},
	{"math/big.(*Float).Text", "Float.Append"},
	{"unicode/utf16.Decode", "utf16.AppendRune or utf8.AppendRune for each"},
}

// textViews are functions that copy what they could show.
var textViews = map[string]string{
	"bytes.(*Buffer).String":           "Use a strings.Builder, whose String method does not copy, or write the buffer's bytes to their destination.",
	"bytes.(*Buffer).ReadString":       "Use the buffer's Bytes and bytes.Cut, which copy nothing, and convert only what is kept.",
	"bufio.(*Scanner).Text":            "Use the scanner's Bytes, which are the same text without a copy, valid until the next Scan; convert only what is kept.",
	"bufio.(*Reader).ReadString":       "Use ReadSlice, which copies nothing and is valid until the next read (of a line longer than the buffer it gives an error), or a bufio.Scanner with Bytes; convert only what is kept.",
	"net/textproto.(*Reader).ReadLine": "Use ReadLineBytes, and convert only what is kept.",
	"io.WriteString":                   "The writer has no WriteString, so that the text is copied for each call: give it one (as bufio.Writer, bytes.Buffer, strings.Builder and os.File have), put a bufio.Writer in front, or write bytes that are kept.",
}

// ownText is what to do about a text that a function of the library converts for itself; it is false of the program's own
// conversions and of others.
func ownText(inner string, kept bool) (advice string, ok bool) {
	inner = strings.TrimPrefix(inner, "internal/") // internal/strconv does it for strconv
	if advice, ok = textViews[inner]; ok {
		return advice, true
	}
	for _, m := range libraryTexts {
		if inner != m.of && !strings.HasPrefix(inner, m.of+".") && !(strings.HasPrefix(m.of, "strconv.") && strings.HasPrefix(inner, m.of)) {
			continue
		}
		advice = fmt.Sprintf("%s makes a new text each time. Where it is only written out, or put together with others, append to a buffer that is reused: %s.", stack.Short(inner), m.instead)
		if kept {
			advice += " Where it is kept, keep the value and make the text when it is shown, or look up texts that recur."
		}
		return advice, true
	}
	if stack.IsStandard(stack.Package(inner)) && !stack.IsRuntime(stack.Package(inner)) && stack.Package(inner) != "main" {
		return fmt.Sprintf("%s converts for itself: look for a function beside it that takes or gives the other type, or appends to a buffer ([]byte), and keep the result where the same is asked for again.", stack.Short(inner)), true
	}
	return "", false
}
