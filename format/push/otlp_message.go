package push

// The messages of OTLP's profiles, v1development, at opentelemetry-proto 1.11: all of
// that version that a profile is made of. Other versions of v1development have other
// fields under these numbers; docs/formats/push.md says what becomes of them.
type (
	exportRequest struct {
		ResourceProfiles []resourceProfiles `pb:"1,resource_profiles"`
		Dictionary       *dictionary        `pb:"2,dictionary"`
	}
	dictionary struct {
		Mappings   []otlpMapping     `pb:"1,mapping_table"`
		Locations  []otlpLocation    `pb:"2,location_table"`
		Functions  []otlpFunction    `pb:"3,function_table"`
		Links      []otlpLink        `pb:"4,link_table"`
		Strings    []string          `pb:"5,string_table"`
		Attributes []keyValueAndUnit `pb:"6,attribute_table"`
		Stacks     []otlpStack       `pb:"7,stack_table"`
	}
	resourceProfiles struct {
		Resource *resource       `pb:"1,resource"`
		Scopes   []scopeProfiles `pb:"2,scope_profiles"`
	}
	resource struct {
		Attributes []keyValue `pb:"1,attributes"`
	}
	scopeProfiles struct {
		Scope    *scope        `pb:"1,scope"`
		Profiles []otlpProfile `pb:"2,profiles"`
	}
	scope struct {
		Name       string     `pb:"1,name"`
		Version    string     `pb:"2,version"`
		Attributes []keyValue `pb:"3,attributes"`
	}
	otlpProfile struct {
		SampleType    *otlpValueType `pb:"1,sample_type"`
		Samples       []otlpSample   `pb:"2,samples"`
		TimeUnixNano  uint64         `pb:"3,time_unix_nano,fixed"`
		DurationNano  uint64         `pb:"4,duration_nano"`
		PeriodType    *otlpValueType `pb:"5,period_type"`
		Period        int64          `pb:"6,period"`
		ProfileID     []byte         `pb:"7,profile_id"`
		PayloadFormat string         `pb:"9,original_payload_format"`
		Payload       []byte         `pb:"10,original_payload"`
		Attributes    []int32        `pb:"11,attribute_indices"`
	}
	otlpValueType struct {
		Type int32 `pb:"1,type_strindex"`
		Unit int32 `pb:"2,unit_strindex"`
	}
	otlpSample struct {
		Stack      int32    `pb:"1,stack_index"`
		Attributes []int32  `pb:"2,attribute_indices"`
		Link       int32    `pb:"3,link_index"`
		Values     []int64  `pb:"4,values"`
		Timestamps []uint64 `pb:"5,timestamps_unix_nano,fixed"`
	}
	otlpMapping struct {
		Start      uint64  `pb:"1,memory_start"`
		Limit      uint64  `pb:"2,memory_limit"`
		Offset     uint64  `pb:"3,file_offset"`
		Filename   int32   `pb:"4,filename_strindex"`
		Attributes []int32 `pb:"5,attribute_indices"`
	}
	otlpStack struct {
		Locations []int32 `pb:"1,location_indices"`
	}
	otlpLocation struct {
		Mapping int32      `pb:"1,mapping_index"`
		Address uint64     `pb:"2,address"`
		Lines   []otlpLine `pb:"3,lines"`
	}
	otlpLine struct {
		Function int32 `pb:"1,function_index"`
		Line     int64 `pb:"2,line"`
		Column   int64 `pb:"3,column"`
	}
	otlpFunction struct {
		Name       int32 `pb:"1,name_strindex"`
		SystemName int32 `pb:"2,system_name_strindex"`
		Filename   int32 `pb:"3,filename_strindex"`
		StartLine  int64 `pb:"4,start_line"`
	}
	otlpLink struct {
		TraceID []byte `pb:"1,trace_id,hex"`
		SpanID  []byte `pb:"2,span_id,hex"`
	}
	keyValueAndUnit struct {
		Key   int32     `pb:"1,key_strindex"`
		Value *anyValue `pb:"2,value"`
		Unit  int32     `pb:"3,unit_strindex"`
	}
	keyValue struct {
		Key       string    `pb:"1,key"`
		Value     *anyValue `pb:"2,value"`
		KeyString int32     `pb:"3,key_strindex"`
	}
	anyValue struct {
		String  *string     `pb:"1,string_value"`
		Bool    *bool       `pb:"2,bool_value"`
		Int     *int64      `pb:"3,int_value"`
		Double  *float64    `pb:"4,double_value"`
		Array   *arrayValue `pb:"5,array_value"`
		StrIndx *int32      `pb:"8,string_value_strindex"`
	}
	arrayValue struct {
		Values []anyValue `pb:"1,values"`
	}

	// status is google.rpc.Status, which is the body of an error in OTLP and in gRPC's
	// gateway.
	status struct {
		Code    int32  `pb:"1,code"`
		Message string `pb:"2,message"`
	}
)
