package calltree

import (
	"cmp"
	"slices"
	"strings"
)

// LabelSet is what a sample's labels say to a graph.
type LabelSet struct {
	// Labels are the string labels, "key:value", sorted and joined by `\n`; ""
	// means that there are none.
	Labels  string
	Numbers []Number
}

// Number is a numeric label of a sample.
type Number struct {
	Name  string // as it is shown; what is shown the same counts together
	Unit  string
	Value int64
}

// Tag is the weight that one label, or one set of them, has in a node.
type Tag struct {
	Name          string // as it is shown
	Unit          string // of Value; "" unless it is a number
	Value         int64
	Flat, FlatDiv int64
	Cum, CumDiv   int64
}

// FlatValue returns the weight in the node itself, or the mean of it.
func (t *Tag) FlatValue() int64 { return mean(t.Flat, t.FlatDiv) }

// CumValue returns the weight with all that the node calls, or the mean of it.
func (t *Tag) CumValue() int64 { return mean(t.Cum, t.CumDiv) }

// SortTags sorts tags in place, the heaviest first: by flat weight, or by
// cumulative weight first.
func SortTags(tags []*Tag, flat bool) {
	slices.SortFunc(tags, func(x, y *Tag) int {
		if !flat {
			if c := cmp.Compare(abs(y.Cum), abs(x.Cum)); c != 0 {
				return c
			}
		}
		return cmp.Or(cmp.Compare(abs(y.Flat), abs(x.Flat)), strings.Compare(x.Name, y.Name))
	})
}

// tagTable holds the tags of all nodes.
type tagTable struct {
	ask    func(uint32) LabelSet
	sets   []*tagSet // by label set, as far as they came
	ids    map[tagKey]int32
	groups []string // by tag: the labels that a number comes with
	kinds  []bool   // by tag: it is a number
	pairs  pairs    // of node and tag
	nodes  []int32  // by pair
	tag    []int32  // by pair
	list   []Tag    // by pair
	ofNode map[int32][]int32
}

type tagKey struct {
	labels, number string
	isNumber       bool
}

type tagSet struct {
	labels  int32 // tag; -1 is none
	text    string
	numbers []Number
	ids     []int32 // tags of numbers
}

func (t *tagTable) set(number uint32) *tagSet {
	for len(t.sets) <= int(number) {
		t.sets = append(t.sets, nil)
	}
	if s := t.sets[number]; s != nil {
		return s
	}
	labels := t.ask(number)
	s := &tagSet{labels: -1, text: labels.Labels, numbers: labels.Numbers}
	if labels.Labels != "" {
		s.labels = t.id(tagKey{labels: labels.Labels})
	}
	for _, n := range labels.Numbers {
		s.ids = append(s.ids, t.id(tagKey{labels.Labels, n.Name, true}))
	}
	t.sets[number] = s
	return s
}

func (t *tagTable) id(key tagKey) int32 {
	id, ok := t.ids[key]
	if !ok {
		id = int32(len(t.groups))
		t.ids[key] = id
		t.groups = append(t.groups, key.labels)
		t.kinds = append(t.kinds, key.isNumber)
	}
	return id
}

// at returns the tag of a node, which is valid until the next call. The first
// number that is shown in some way is the one that the tag has.
func (t *tagTable) at(n, tag int32, first Number) *Tag {
	i := t.pairs.at(uint32(n), uint32(tag))
	if i == len(t.list) {
		t.nodes, t.tag = append(t.nodes, n), append(t.tag, tag)
		t.list = append(t.list, Tag{Name: first.Name, Unit: first.Unit, Value: first.Value})
	}
	return &t.list[i]
}

func (t *tagTable) each(n int32, s *tagSet, visit func(*Tag)) {
	if s.labels >= 0 {
		visit(t.at(n, s.labels, Number{Name: s.text}))
	}
	for i, id := range s.ids {
		visit(t.at(n, id, s.numbers[i]))
	}
}

// addTags gives the nodes that are left their tags, less the light ones.
func (b *builder) addTags(cutoff int64) {
	t := &tagTable{ask: b.opt.Tags, ids: map[tagKey]int32{}, ofNode: map[int32][]int32{}}
	b.tags = t
	if b.contexts != nil {
		b.addContextTags(t)
	} else {
		b.addNodeTags(t)
	}
	for i := range t.list {
		if x := &t.list[i]; abs(x.Flat) >= cutoff || abs(x.Cum) >= cutoff {
			t.ofNode[t.nodes[i]] = append(t.ofNode[t.nodes[i]], int32(i))
		}
	}
}

func (b *builder) addNodeTags(t *tagTable) {
	left := make([]bool, len(b.nodes))
	for _, n := range b.shown {
		left[n] = true
	}
	seen := make([]uint32, len(b.nodes))
	for i, l := range b.weights.labelled {
		s, epoch := t.set(l.labels), uint32(i+1)
		if s.labels < 0 && len(s.ids) == 0 {
			continue
		}
		frames := b.table.Frames(l.id)
		leaf := int32(absent)
		for _, f := range frames {
			n := b.places.of[f]
			if n == absent {
				continue
			}
			if n >= 0 && !left[n] {
				n = dropped
			}
			if leaf == absent {
				leaf = n
			}
			if n < 0 || seen[n] == epoch {
				continue
			}
			seen[n] = epoch
			t.each(n, s, func(tag *Tag) {
				tag.Cum += l.sum
				tag.CumDiv += l.div
			})
		}
		if leaf >= 0 {
			t.each(leaf, s, func(tag *Tag) {
				tag.Flat += l.sum
				tag.FlatDiv += l.div
			})
		}
	}
}

// addContextTags walks the call tree once more, which has all its nodes now.
func (b *builder) addContextTags(t *tagTable) {
	var pairs pairs
	for i, c := range b.contexts {
		if pairs.at(uint32(c.born), uint32(c.place)) != i {
			panic("BUG: a context of a call tree came twice")
		}
	}
	for _, l := range b.weights.labelled {
		s := t.set(l.labels)
		frames := b.table.Frames(l.id)
		parent := int32(-1)
		for j := len(frames) - 1; j >= 0; j-- {
			if at := b.places.of[frames[j]]; at >= 0 {
				parent = int32(pairs.at(uint32(parent), uint32(at)))
				t.each(parent, s, func(tag *Tag) {
					tag.Cum += l.sum
					tag.CumDiv += l.div
				})
			}
		}
		if parent >= 0 {
			t.each(parent, s, func(tag *Tag) {
				tag.Flat += l.sum
				tag.FlatDiv += l.div
			})
		}
	}
}

// linkTags gives a node its tags.
func (b *builder) linkTags(n *Node, id int32) {
	if b.tags == nil {
		return
	}
	t := b.tags
	for _, i := range t.ofNode[id] {
		tag := &t.list[i]
		if id := t.tag[i]; t.kinds[id] {
			if n.Numbers == nil {
				n.Numbers = map[string][]*Tag{}
			}
			n.Numbers[t.groups[id]] = append(n.Numbers[t.groups[id]], tag)
		} else {
			n.Labels = append(n.Labels, tag)
		}
	}
	byName := func(x, y *Tag) int { return strings.Compare(x.Name, y.Name) }
	slices.SortFunc(n.Labels, byName)
	for _, tags := range n.Numbers {
		slices.SortFunc(tags, byName)
	}
}

// maxNodelets is how many tags of one kind a node has in a picture.
const maxNodelets = 4

// countNodelets returns how many nodes there is room for when every node
// takes its tags along.
func (b *builder) countNodelets(room int) int {
	used := 0
	for i, n := range b.shown {
		tags := 0
		if b.tags != nil {
			for _, k := range b.tags.ofNode[n] {
				if b.tags.list[k].Flat != 0 {
					tags++
				}
			}
		}
		if used += min(tags, maxNodelets) + 1; used >= room {
			return i + 1
		}
	}
	return room
}
