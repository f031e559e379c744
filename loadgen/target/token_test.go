package target

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// A token is replaced before it expires, and after a refusal, but not more often than every ten seconds; where there is
// no other it stays.
func TestToken(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var n int
		var life time.Duration
		var failure error
		token := &Token{Ask: func(context.Context) (string, time.Time, error) {
			time.Sleep(2 * time.Second)
			if n++; failure != nil {
				return "", time.Time{}, failure
			}
			var ends time.Time
			if life > 0 {
				ends = time.Now().Add(life)
			}
			return fmt.Sprint("token-", n), ends, nil
		}}
		expect := func(after time.Duration, want string) {
			t.Helper()
			time.Sleep(after)
			token.Value()
			time.Sleep(3 * time.Second) // what it began is over
			synctest.Wait()
			if got := token.Value(); got != want {
				t.Errorf("at %v: %q, want %q", time.Now(), got, want)
			}
		}
		if token.Value() != "" {
			t.Error("a value before the first token")
		}
		failure = errors.New("log in")
		if err := token.First(t.Context()); err == nil || err.Error() != "log in" {
			t.Error(err)
		}
		failure, life = nil, time.Hour
		for range 2 {
			if err := token.First(t.Context()); err != nil {
				t.Error(err)
			}
		}
		expect(0, "Bearer token-2")
		expect(54*time.Minute, "Bearer token-2")
		expect(2*time.Minute, "Bearer token-3") // five minutes before its end
		life = 0
		expect(56*time.Minute, "Bearer token-4")
		expect(9*time.Minute, "Bearer token-4")
		expect(time.Minute, "Bearer token-5") // whose end is not known
		token.Refused()
		expect(0, "Bearer token-5") // too soon
		expect(7*time.Second, "Bearer token-6")
		failure = errors.New("no network")
		time.Sleep(time.Minute)
		token.Refused()
		expect(0, "Bearer token-6")
		failure = nil
		expect(10*time.Second, "Bearer token-8")
		target := Target{token: token}
		if got := target.Hide("refused token-8 and token-4"); strings.Contains(got, "token-") {
			t.Error(got)
		}
	})
}

// No token asks for none.
func TestNoToken(t *testing.T) {
	var token *Token
	token.Refused()
	if err := token.First(t.Context()); err != nil || token.Value() != "" || token.secrets() != nil {
		t.Error("a token of none")
	}
}
