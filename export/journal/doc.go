// Package journal writes the events of a run to a file, one JSON line each, and reads them back:
//
//	{"benchtop_journal":2,"plan":{…}}       first
//	{"index":0,…}                           each request, when it is done
//	{"recount":{"index":0,…}}               output tokens of a request that were counted later
//	{"event":{…}}                           a line of the log, with the load or objectives that it set
//	{"load":{…}}                            the load from here on
//	{"phase":{…}}                           the phase of the run from here on
//	{"source":{…}}                          whether the server's counters, or the GPUs, can be read
//	{"saving":{…}}                          the path of the result
//	{"client":{…}}                          the client's health, about once a second
//	{"server":{…}}                          the server's metrics, likewise
//	{"gpus":{…}}                            the metrics of the GPUs, likewise
//	{"end":{…}}                             last
//
// Due, sent and chunk events have no lines of their own: the line of a request contains them. Version 1 had no lines of
// load, phase, source and saving; a reader derives them from the others.
package journal
