package querier

import "strings"

// FunctionService is the begin of the path of the call for functions, which is loupe's own.
// It is asked and answered as those of [Service] are.
const FunctionService = "/loupe.v1.FunctionService/"

// MostFunctions is the most functions that may be asked for.
const MostFunctions = 100_000

type (
	// TopRequest asks for the functions of a selection that most was spent in themselves, over
	// ranges that are too long for a profile of all stacks.
	TopRequest struct {
		ProfileTypeID string `pb:"1,profile_typeID"`
		LabelSelector string `pb:"2,label_selector"`
		Start         int64  `pb:"3,start"` // ms since 1970
		End           int64  `pb:"4,end"`
		Limit         int64  `pb:"5,limit"` // how many functions; 0 means 100
	}
	// TopResponse lists them.
	TopResponse struct {
		Functions []Function `pb:"1,functions"` // those with most self first
		Total     int64      `pb:"2,total"`     // of all stacks
		Others    int64      `pb:"3,others"`    // functions that are not listed
		// Slack is the most that a function may have beyond what is said, because roll-ups of
		// old profiles keep the largest functions alone; 0 where all is exact.
		Slack int64 `pb:"4,slack"`
	}
	// Function is what was spent in a function, in the unit of the type.
	Function struct {
		Name  string `pb:"1,name"`
		File  string `pb:"2,file"`
		Self  int64  `pb:"3,self"`
		Total int64  `pb:"4,total"` // and in what it called; a recursive call counts once
	}
)

// functionCalls make the question of the call.
var functionCalls = map[string]func() any{"Top": func() any { return new(TopRequest) }}

// own are the calls that are loupe's own, by the begin of their paths.
var own = map[string]map[string]func() any{PinService: pinCalls, FunctionService: functionCalls}

// Answers tells whether a path is that of a call of this package, known or not.
func Answers(path string) bool {
	for _, begin := range []string{Service, PinService, FunctionService} {
		if strings.HasPrefix(path, begin) {
			return true
		}
	}
	return false
}
