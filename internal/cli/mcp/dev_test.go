package mcp_test
import ("testing";"fmt";"os";"encoding/json")
func TestDev(t *testing.T) {
	f := os.Getenv("ASK"); if f=="" { t.Skip() }
	c := connect(t, "-run")
	var qs []struct{Tool string; Args map[string]any}
	if err:=json.Unmarshal([]byte(f),&qs); err!=nil {t.Fatal(err)}
	for _,q := range qs { s,failed := c.raw(q.Tool,q.Args); fmt.Println("##",q.Tool,failed,len(s)); fmt.Println(s) }
}
