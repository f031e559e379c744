// Package journal writes down the events of a run, one JSON line at a time, and reads them back:
//
//	{"benchtop_journal":2,"plan":{…}}       first
//	{"index":0,…}                           for every request, when it is done
//	{"recount":{"index":0,…}}               for one whose output tokens were counted later
//	{"event":{…}}                           a line of the log, with a load or objectives that were set
//	{"load":{…}}                            the load in force from here on
//	{"phase":{…}}                           what the run does from here on
//	{"source":{…}}                          whether the server's counters, or the GPUs, can be read
//	{"saving":{…}}                          where the result goes
//	{"client":{…}}                          what the client saw of itself, about once a second
//	{"server":{…}}                          what the server said of itself, likewise
//	{"gpus":{…}}                            what the accelerators did, likewise
//	{"end":{…}}                             last
//
// Due, sent and chunk events have no lines of their own: the line of a request tells them. Version 1 had no lines of load,
// phase, source and saving; a reader makes up what follows from the others.
package journal
