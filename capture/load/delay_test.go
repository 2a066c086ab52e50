package load

import "testing"

func TestRunDelay(t *testing.T) {
	before := runDelay{"a": {Waited: 5}, "gone": {Waited: 100}}
	if d, ok := (runDelay{"a": {Waited: 7}, "new": {Waited: 3}}).since(before); d != 5 || !ok {
		t.Errorf("the delay is %v, %v", d, ok)
	}
	if _, ok := takeRunDelay().since(nil); ok {
		t.Error("a delay without a beginning")
	}
}
