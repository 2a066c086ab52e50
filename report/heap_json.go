package report

import "loupe/analysis/heap"

type heapJSON struct {
	Schema  string        `json:"schema"`
	File    string        `json:"file"`
	Old     string        `json:"old,omitempty"`
	Totals  heap.Totals   `json:"totals"`
	Before  *heap.Totals  `json:"old_totals,omitempty"`
	Damaged int           `json:"damaged,omitempty"`
	Missing int64         `json:"missing_bytes,omitempty"`
	Types   []heap.Row    `json:"types,omitempty"`
	Count   int           `json:"type_count,omitempty"`
	Holders []heap.Holder `json:"holders,omitempty"`
	Asked   string        `json:"asked,omitempty"`
	Object  *heap.Object  `json:"object,omitempty"`
	Objects []heap.Object `json:"objects,omitempty"`
	Ways    []heap.Path   `json:"ways,omitempty"`
	Texts   *textsJSON    `json:"texts,omitempty"`
	Changed []changeJSON  `json:"changed_types,omitempty"`
	Holding []changeJSON  `json:"changed_holders,omitempty"`
}

type textsJSON struct {
	Strings  heap.Total `json:"strings"`
	Bytes    heap.Total `json:"byte_slices"`
	Wasted   heap.Total `json:"wasted"`
	Longest  []textJSON `json:"longest"`
	Repeated []textJSON `json:"repeated"`
}

type textJSON struct {
	heap.Text
	// Quoted is the begin of the text as Go would write it.
	Quoted string `json:"text"`
}

type changeJSON struct {
	Name string     `json:"name"`
	Old  heap.Total `json:"old"`
	New  heap.Total `json:"new"`
}

// HeapJSON is what [WriteJSON] prints of a heap, with its schema.
func HeapJSON(p *Heap) any {
	out := heapJSON{
		Schema: HeapSchema, File: p.Name, Old: p.Old, Totals: p.Totals, Damaged: p.Damaged, Missing: p.Missing, Types: p.Rows, Count: p.RowCount,
		Holders: p.Holders, Asked: p.Asked, Object: p.Object, Objects: p.Objects, Ways: p.Ways,
	}
	if p.Old != "" {
		out.Before = &p.OldTotals
		out.Changed, out.Holding = changesJSON(p.Types), changesJSON(p.Roots)
	}
	if t := p.Texts; t != nil {
		out.Texts = &textsJSON{t.Strings, t.Bytes, t.Wasted, textsOf(t.Longest), textsOf(t.Repeated)}
	}
	return out
}

func changesJSON(all []heap.Change) (out []changeJSON) {
	for _, c := range all {
		out = append(out, changeJSON{c.Name, c.Old, c.New})
	}
	return out
}

func textsOf(all []heap.Text) []textJSON {
	out := []textJSON{}
	for _, t := range all {
		out = append(out, textJSON{t, textBegin(t)})
	}
	return out
}
