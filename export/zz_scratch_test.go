package export
import ("testing";"os";"fmt";"strconv";"benchtop/metrics")
func TestScratch(t *testing.T){
 path:=os.Getenv("J"); if path=="" {t.Skip()}
 run,seq,err:=ReadJournal(path); if err!=nil{t.Fatal(err)}
 run.Events=append(run.Events, metrics.Event{At:5e9,Mark:"8 req/s"},metrics.Event{At:12e9,Mark:"16 req/s"})
 r,err:=metrics.Summarize(seq,run); if err!=nil{t.Fatal(err)}
 w,_:=strconv.Atoi(os.Getenv("W"))
 Plots(os.Stdout,r,PlotOptions{Width:w,ASCII:os.Getenv("A")!=""})
 Remarks(os.Stdout,r)
 fmt.Println(); fmt.Println(Answer(r))
}
