package querier

// PinService is the begin of the paths of calls about pins, which are loupe's own. They are
// asked and answered as those of [Service] are.
const PinService = "/loupe.v1.PinService/"

// Pin is a selection that is kept as it came: a baseline, an incident.
type Pin struct {
	Name     string `pb:"1,name"`
	Selector string `pb:"2,label_selector"`
	Start    int64  `pb:"3,start"` // ms since 1970
	End      int64  `pb:"4,end"`
	Reason   string `pb:"5,reason"` // for people
}

// The calls.
type (
	// PinsRequest asks which pins there are.
	PinsRequest struct{}
	// PinsResponse lists them by name.
	PinsResponse struct {
		Pins []Pin `pb:"1,pins"`
	}
	// PinRequest pins a selection. A pin of the same name is replaced.
	PinRequest struct {
		Pin *Pin `pb:"1,pin"`
	}
	// PinResponse says how many series have profiles in it by now.
	PinResponse struct {
		Series int64 `pb:"1,series"`
	}
	// UnpinRequest takes a pin away.
	UnpinRequest struct {
		Name string `pb:"1,name"`
	}
	// UnpinResponse is empty.
	UnpinResponse struct{}
)

// pinCalls make the question of each call.
var pinCalls = map[string]func() any{
	"Pins":  func() any { return new(PinsRequest) },
	"Pin":   func() any { return new(PinRequest) },
	"Unpin": func() any { return new(UnpinRequest) },
}
