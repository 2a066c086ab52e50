// Package message is profile.proto as a plain message: for protocols that carry a
// profile inside of another message, in JSON, or in tables of their own that are put
// into it. To read a profile take package profile, which does not build this.
package message

// Profile and the types below have the fields of
// https://github.com/google/pprof/blob/main/proto/profile.proto, with its names.
type (
	Profile struct {
		SampleType        []ValueType `pb:"1,sample_type"`
		Sample            []Sample    `pb:"2,sample"`
		Mapping           []Mapping   `pb:"3,mapping"`
		Location          []Location  `pb:"4,location"`
		Function          []Function  `pb:"5,function"`
		StringTable       []string    `pb:"6,string_table"`
		DropFrames        int64       `pb:"7,drop_frames"`
		KeepFrames        int64       `pb:"8,keep_frames"`
		TimeNanos         int64       `pb:"9,time_nanos"`
		DurationNanos     int64       `pb:"10,duration_nanos"`
		PeriodType        *ValueType  `pb:"11,period_type"`
		Period            int64       `pb:"12,period"`
		Comment           []int64     `pb:"13,comment"`
		DefaultSampleType int64       `pb:"14,default_sample_type"`
		DocURL            int64       `pb:"15,doc_url"`
	}
	ValueType struct {
		Type int64 `pb:"1,type"`
		Unit int64 `pb:"2,unit"`
	}
	Sample struct {
		LocationID []uint64 `pb:"1,location_id"`
		Value      []int64  `pb:"2,value"`
		Label      []Label  `pb:"3,label"`
	}
	Label struct {
		Key     int64 `pb:"1,key"`
		Str     int64 `pb:"2,str"`
		Num     int64 `pb:"3,num"`
		NumUnit int64 `pb:"4,num_unit"`
	}
	Mapping struct {
		ID              uint64 `pb:"1,id"`
		MemoryStart     uint64 `pb:"2,memory_start"`
		MemoryLimit     uint64 `pb:"3,memory_limit"`
		FileOffset      uint64 `pb:"4,file_offset"`
		Filename        int64  `pb:"5,filename"`
		BuildID         int64  `pb:"6,build_id"`
		HasFunctions    bool   `pb:"7,has_functions"`
		HasFilenames    bool   `pb:"8,has_filenames"`
		HasLineNumbers  bool   `pb:"9,has_line_numbers"`
		HasInlineFrames bool   `pb:"10,has_inline_frames"`
	}
	Location struct {
		ID        uint64 `pb:"1,id"`
		MappingID uint64 `pb:"2,mapping_id"`
		Address   uint64 `pb:"3,address"`
		Line      []Line `pb:"4,line"`
		IsFolded  bool   `pb:"5,is_folded"`
	}
	Line struct {
		FunctionID uint64 `pb:"1,function_id"`
		Line       int64  `pb:"2,line"`
		Column     int64  `pb:"3,column"`
	}
	Function struct {
		ID         uint64 `pb:"1,id"`
		Name       int64  `pb:"2,name"`
		SystemName int64  `pb:"3,system_name"`
		Filename   int64  `pb:"4,filename"`
		StartLine  int64  `pb:"5,start_line"`
	}
)
