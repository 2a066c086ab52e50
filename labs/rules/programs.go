package main

import (
	"runtime"
	"time"
)

// addr is where a program listens that is to be put under load.
var addr string

// programs are those of all rules that have one here.
var programs = map[string]func(){
	"AL01": al01,
	"AL05": al05,
	"AL06": al06,
	"AL07": al07,
	"AL10": al10,
	"AL11": al11,
	"AL13": al13,
	"AL15": al15,
	"AL16": al16,
	"AL17": al17,
	"AL18": al18,
	"AL19": al19,
	"AL20": al20,
	"AL21": al21,
	"AL22": al22,
	"AL23": al23,
	"BE01": be01,
	"BE02": be02,
	"BE03": be03,
	"BE04": be04,
	"BE05": be05,
	"BE06": be06,
	"BE08": be08,
	"BE10": be10,
	"BE11": be04,
	"CP01": cp01,
	"CP02": cp02,
	"CP05": cp05,
	"CP06": cp06,
	"CP07": cp07,
	"CP08": cp08,
	"CP11": cp11,
	"CP12": cp12,
	"CP13": cp13,
	"CP14": cp14,
	"CP15": cp15,
	"CP16": cp16,
	"CP17": cp17,
	"CP19": cp19,
	"CP21": cp21,
	"CP22": cp22, "CP23": cp23, "CP24": cp24, "CP25": cp25, "CP26": cp26, "CP27": cp27, "CP28": cp28, "CP29": cp29, "CP30": cp30,
	"FA02": fa02,
	"GC01": gc01,
	"GC02": gc02,
	"GC03": gc03,
	"GC04": gc04,
	"GC05": gc05,
	"GC06": gc06,
	"GC10": gc10,
	"GC13": gc13,
	"GC14": gc14,
	"GC15": gc15,
	"GC16": gc16,
	"LD01": ld01,
	"LD03": ld03,
	"LD04": ld04,
	"LD05": ld05,
	"LK04": lk04,
	"LK07": lk07,
	"LK08": lk08,
	"SC04": sc04,
	"SC06": sc06,
	"SC07": sc07,
	"SC08": sc08,
	"SC12": sc12,
	"SC13": sc13,
	"SC14": sc14,
	"SC15": sc15,
	"SC16": sc16,
	"SC18": sc18,
	"SC19": sc19,
	"WT05": wt05,
	"WT09": wt09,
	"WT11": wt11,
}

// stay makes what is kept known to a profile of the heap, which tells of what has survived
// a collection, and gives it time to be taken.
func stay() {
	runtime.GC()
	runtime.GC()
	time.Sleep(2 * time.Second)
}
