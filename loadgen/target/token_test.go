package target

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"benchtop/internal/assert"
)

// A token is replaced before it expires, and at once after a refusal, but for refusals not more often than every ten
// seconds; where there is no other it stays.
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
			assert.Equal(t, token.Value(), want, "at %v", time.Now())
		}
		assert.Equal(t, token.Value(), "", "a value before the first token")
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
		expect(0, "Bearer token-6") // just after token 5 was asked for
		token.Refused()
		expect(0, "Bearer token-6") // too soon
		expect(7*time.Second, "Bearer token-7")
		failure = errors.New("no network")
		time.Sleep(time.Minute)
		token.Refused()
		expect(0, "Bearer token-7")
		failure = nil
		expect(10*time.Second, "Bearer token-9")
	})
}

// The first token may be refused at once, and has another at once.
func TestFirstTokenRefused(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		token := numbered()
		assert.Fine(t, token.First(t.Context()))
		token.Refused()
		synctest.Wait()
		if got := token.Value(); got != "Bearer token-2" {
			t.Error(got)
		}
	})
}

// numbered are the tokens token-1, token-2 and so on.
func numbered() *Token {
	n := 0
	return &Token{Ask: func(context.Context) (string, time.Time, error) {
		n++
		return fmt.Sprint("token-", n), time.Time{}, nil
	}}
}

// All tokens of a day are hidden, whatever their number, and those that came twice are kept once.
func TestOldTokensHidden(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		token := numbered()
		target := Target{token: token}
		assert.Fine(t, token.First(t.Context()))
		for n := range 500 {
			time.Sleep(tokenLife)
			token.Value()
			synctest.Wait()
			if n == 100 {
				if got := target.Hide("token-1, token-50 and token-102 of 101"); got != "***, *** and *** of 101" {
					t.Error(got)
				}
			}
		}
		if most := int(tokenMemory/tokenLife) + 2; len(token.secrets()) > most {
			t.Errorf("%d tokens are kept, at most %d are of a day", len(token.secrets()), most)
		}
		same := &Token{Ask: func(context.Context) (string, time.Time, error) { return "token", time.Time{}, nil }}
		assert.Fine(t, same.First(t.Context()))
		for range 3 {
			time.Sleep(tokenLife)
			same.Value()
			synctest.Wait()
		}
		if got := same.secrets(); len(got) != 1 {
			t.Errorf("%d of one token", len(got))
		}
	})
}

// A token that cannot be renewed is told of once for each reason; what Stop ends is none.
func TestTokenTrouble(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		failure := errors.New("no network")
		var told []string
		token := &Token{Ask: func(ctx context.Context) (string, time.Time, error) {
			if failure == nil {
				<-ctx.Done()
				return "", time.Time{}, ctx.Err()
			}
			return "", time.Time{}, failure
		}, current: "first"}
		token.Tell(func(err error) { told = append(told, err.Error()) })
		refuse := func() {
			time.Sleep(tokenPause)
			token.Refused()
			synctest.Wait()
		}
		refuse()
		refuse()
		failure = errors.New("log in")
		refuse()
		failure = nil
		refuse()
		from := time.Now()
		token.Stop(time.Second)
		assert.Equal(t, time.Since(from), time.Second, "Stop took")
		if got := strings.Join(told, ", "); got != "no network, log in" {
			t.Error(got)
		}
		refuse()
		time.Sleep(tokenWait)
		synctest.Wait()
		if len(told) != 3 { // that it takes too long
			t.Errorf("%q", told)
		}
		token.Tell(func(err error) { told = append(told, "again: "+err.Error()) })
		if len(told) != 4 || told[3] != "again: "+told[2] {
			t.Errorf("%q", told)
		}
		token.Stop(0) // nothing is under way
	})
}

// No token asks for none.
func TestNoToken(t *testing.T) {
	var token *Token
	token.Refused()
	token.Tell(nil)
	token.Stop(0)
	if err := token.First(t.Context()); err != nil || token.Value() != "" || token.secrets() != nil {
		t.Error("a token of none")
	}
}
