package querier

import "loupe/format/profile/message"

// The questions. Times are in milliseconds since 1970, steps in seconds. A nil number is
// one that the client does not give.
type (
	// ProfileTypesRequest asks which types of profile there are.
	ProfileTypesRequest struct {
		Start int64 `pb:"1,start"`
		End   int64 `pb:"2,end"`
	}
	// LabelNamesRequest asks for the names of labels.
	LabelNamesRequest struct {
		Matchers []string `pb:"1,matchers"`
		Start    int64    `pb:"2,start"`
		End      int64    `pb:"3,end"`
	}
	// LabelValuesRequest asks for the values of one label.
	LabelValuesRequest struct {
		Name     string   `pb:"1,name"`
		Matchers []string `pb:"2,matchers"`
		Start    int64    `pb:"3,start"`
		End      int64    `pb:"4,end"`
	}
	// SeriesRequest asks for the label sets there are, by the named labels or all.
	SeriesRequest struct {
		Matchers   []string `pb:"1,matchers"`
		LabelNames []string `pb:"2,label_names"`
		Start      int64    `pb:"3,start"`
		End        int64    `pb:"4,end"`
	}
	// SelectMergeStacktracesRequest asks for the sum of profiles.
	SelectMergeStacktracesRequest struct {
		ProfileTypeID string              `pb:"1,profile_typeID"`
		LabelSelector string              `pb:"2,label_selector"`
		Start         int64               `pb:"3,start"`
		End           int64               `pb:"4,end"`
		MaxNodes      *int64              `pb:"5,max_nodes"`
		Format        ProfileFormat       `pb:"6,format"`
		Stacks        *StackTraceSelector `pb:"7,stack_trace_selector"`
		ProfileIDs    []string            `pb:"8,profile_id_selector"`
		TraceIDs      []string            `pb:"10,trace_id_selector"`
		Spans         []string            `pb:"11,span_selector"`
	}
	// SelectMergeSpanProfileRequest asks for the sum of the samples of spans.
	SelectMergeSpanProfileRequest struct {
		ProfileTypeID string        `pb:"1,profile_typeID"`
		LabelSelector string        `pb:"2,label_selector"`
		Spans         []string      `pb:"3,span_selector"`
		Start         int64         `pb:"4,start"`
		End           int64         `pb:"5,end"`
		MaxNodes      *int64        `pb:"6,max_nodes"`
		Format        ProfileFormat `pb:"7,format"`
	}
	// SelectMergeProfileRequest asks for the sum of profiles as pprof.
	SelectMergeProfileRequest struct {
		ProfileTypeID string              `pb:"1,profile_typeID"`
		LabelSelector string              `pb:"2,label_selector"`
		Start         int64               `pb:"3,start"`
		End           int64               `pb:"4,end"`
		MaxNodes      *int64              `pb:"5,max_nodes"`
		Stacks        *StackTraceSelector `pb:"6,stack_trace_selector"`
		ProfileIDs    []string            `pb:"7,profile_id_selector"`
		TraceIDs      []string            `pb:"8,trace_id_selector"`
	}
	// SelectSeriesRequest asks for totals over time.
	SelectSeriesRequest struct {
		ProfileTypeID string              `pb:"1,profile_typeID"`
		LabelSelector string              `pb:"2,label_selector"`
		Start         int64               `pb:"3,start"`
		End           int64               `pb:"4,end"`
		GroupBy       []string            `pb:"5,group_by"`
		Step          float64             `pb:"6,step"`
		Aggregation   *Aggregation        `pb:"7,aggregation"`
		Stacks        *StackTraceSelector `pb:"8,stack_trace_selector"`
		Limit         *int64              `pb:"9,limit"`
		Exemplars     ExemplarType        `pb:"10,exemplar_type"`
	}
	// SelectHeatmapRequest asks how many profiles, or spans, have had which totals when.
	SelectHeatmapRequest struct {
		ProfileTypeID string           `pb:"1,profile_typeID"`
		LabelSelector string           `pb:"2,label_selector"`
		Start         int64            `pb:"3,start"`
		End           int64            `pb:"4,end"`
		Step          float64          `pb:"5,step"`
		GroupBy       []string         `pb:"6,group_by"`
		Query         HeatmapQueryType `pb:"7,query_type"`
		Exemplars     ExemplarType     `pb:"8,exemplar_type"`
		Limit         *int64           `pb:"9,limit"`
	}
	// DiffRequest asks for the difference of two sums.
	DiffRequest struct {
		Left  *SelectMergeStacktracesRequest `pb:"1,left"`
		Right *SelectMergeStacktracesRequest `pb:"2,right"`
	}
	// GetProfileStatsRequest asks whether there is anything at all.
	GetProfileStatsRequest struct{}
	// StackTraceSelector selects stacks that begin with the call site, the root first.
	StackTraceSelector struct {
		CallSite []Location `pb:"1,call_site"`
		GoPGO    *GoPGO     `pb:"2,go_pgo"`
	}
	// Location is a function of a call site.
	Location struct {
		Name string `pb:"1,name"`
	}
	// GoPGO asks for a profile for the compiler: so many frames from the leaf on, and
	// without the lines of the leaves if callees are to be aggregated.
	GoPGO struct {
		KeepLocations    uint32 `pb:"1,keep_locations"`
		AggregateCallees bool   `pb:"2,aggregate_callees"`
	}
)

// The answers.
type (
	// ProfileTypesResponse answers ProfileTypesRequest.
	ProfileTypesResponse struct {
		Types []ProfileType `pb:"1,profile_types"`
	}
	// Names answers LabelNamesRequest and LabelValuesRequest.
	Names struct {
		Names []string `pb:"1,names"`
	}
	// SeriesResponse answers SeriesRequest.
	SeriesResponse struct {
		Labels []Labels `pb:"2,labels_set"`
	}
	// SelectMergeStacktracesResponse answers by the format that was asked for.
	SelectMergeStacktracesResponse struct {
		FlameGraph *FlameGraph   `pb:"1,flamegraph"`
		Tree       []byte        `pb:"2,tree"`
		Dot        string        `pb:"3,dot"`
		Pprof      *PprofProfile `pb:"5,pprof"`
	}
	// PprofProfile is a profile in an answer.
	PprofProfile struct {
		Profile *message.Profile `pb:"1,profile"`
	}
	// SelectMergeSpanProfileResponse answers by the format that was asked for.
	SelectMergeSpanProfileResponse struct {
		FlameGraph *FlameGraph `pb:"1,flamegraph"`
		Tree       []byte      `pb:"2,tree"`
	}
	// SelectSeriesResponse answers SelectSeriesRequest.
	SelectSeriesResponse struct {
		Series []Series `pb:"1,series"`
	}
	// SelectHeatmapResponse answers SelectHeatmapRequest.
	SelectHeatmapResponse struct {
		Series []HeatmapSeries `pb:"1,series"`
	}
	// DiffResponse answers DiffRequest.
	DiffResponse struct {
		FlameGraph *FlameGraphDiff `pb:"1,flamegraph"`
	}
	// GetProfileStatsResponse says from when till when there are profiles.
	GetProfileStatsResponse struct {
		Ingested bool  `pb:"1,data_ingested"`
		Oldest   int64 `pb:"2,oldest_profile_time"`
		Newest   int64 `pb:"3,newest_profile_time"`
	}
	// Label is a label.
	Label struct {
		Name  string `pb:"1,name"`
		Value string `pb:"2,value"`
	}
	// Labels is a set of labels.
	Labels struct {
		Labels []Label `pb:"1,labels"`
	}
	// FlameGraph is a tree as levels of bars; see [Tree.FlameGraph].
	FlameGraph struct {
		Names   []string `pb:"1,names"`
		Levels  []Level  `pb:"2,levels"`
		Total   int64    `pb:"3,total"`
		MaxSelf int64    `pb:"4,max_self"`
	}
	// FlameGraphDiff is two trees as levels of bars; see [Diff].
	FlameGraphDiff struct {
		Names      []string `pb:"1,names"`
		Levels     []Level  `pb:"2,levels"`
		Total      int64    `pb:"3,total"`
		MaxSelf    int64    `pb:"4,max_self"`
		LeftTicks  int64    `pb:"5,leftTicks"`
		RightTicks int64    `pb:"6,rightTicks"`
	}
	// Level is one level of bars.
	Level struct {
		Values []int64 `pb:"1,values"`
	}
	// Series is totals over time of one set of labels.
	Series struct {
		Labels []Label `pb:"1,labels"`
		Points []Point `pb:"2,points"`
	}
	// Point is a total at the end of a step.
	Point struct {
		Value     float64    `pb:"1,value"`
		Timestamp int64      `pb:"2,timestamp"`
		Exemplars []Exemplar `pb:"4,exemplars"`
	}
	// Exemplar is one profile, or one span, behind a point.
	Exemplar struct {
		Timestamp int64   `pb:"1,timestamp"`
		ProfileID string  `pb:"2,profile_id"`
		SpanID    string  `pb:"3,span_id"`
		Value     int64   `pb:"4,value"`
		Labels    []Label `pb:"5,labels"`
		TraceID   string  `pb:"6,trace_id"`
	}
	// HeatmapSeries is the heat map of one set of labels.
	HeatmapSeries struct {
		Labels []Label       `pb:"1,labels"`
		Slots  []HeatmapSlot `pb:"2,slots"`
	}
	// HeatmapSlot is one column: how many have had a total of YMin or more, and less than
	// the next YMin.
	HeatmapSlot struct {
		Timestamp int64      `pb:"1,timestamp"`
		YMin      []float64  `pb:"2,y_min"`
		Counts    []int32    `pb:"3,counts"`
		Exemplars []Exemplar `pb:"4,exemplars"`
	}
)

// ProfileFormat is the form of a sum of profiles.
type ProfileFormat int32

// The formats. None is FormatFlameGraph too.
const (
	FormatNone ProfileFormat = iota
	FormatFlameGraph
	FormatTree
	FormatDot
	FormatPprof
)

// Names returns the names of all formats in JSON.
func (ProfileFormat) Names() []string {
	return []string{"PROFILE_FORMAT_UNSPECIFIED", "PROFILE_FORMAT_FLAMEGRAPH", "PROFILE_FORMAT_TREE", "PROFILE_FORMAT_DOT", "PROFILE_FORMAT_PPROF"}
}

// Aggregation says what is done with several values in a step.
type Aggregation int32

// The aggregations.
const (
	Sum Aggregation = iota
	Average
)

// Names returns the names of all aggregations in JSON.
func (Aggregation) Names() []string {
	return []string{"TIME_SERIES_AGGREGATION_TYPE_SUM", "TIME_SERIES_AGGREGATION_TYPE_AVERAGE"}
}

// ExemplarType says which exemplars are asked for.
type ExemplarType int32

// The types of exemplars.
const (
	ExemplarUnspecified ExemplarType = iota
	ExemplarNone
	ExemplarIndividual
	ExemplarSpan
)

// Names returns the names of all types in JSON.
func (ExemplarType) Names() []string {
	return []string{"EXEMPLAR_TYPE_UNSPECIFIED", "EXEMPLAR_TYPE_NONE", "EXEMPLAR_TYPE_INDIVIDUAL", "EXEMPLAR_TYPE_SPAN"}
}

// HeatmapQueryType says what a heat map counts.
type HeatmapQueryType int32

// The types of heat maps.
const (
	HeatmapUnspecified HeatmapQueryType = iota
	HeatmapIndividual
	HeatmapSpan
)

// Names returns the names of all types in JSON.
func (HeatmapQueryType) Names() []string {
	return []string{"HEATMAP_QUERY_TYPE_UNSPECIFIED", "HEATMAP_QUERY_TYPE_INDIVIDUAL", "HEATMAP_QUERY_TYPE_SPAN"}
}
