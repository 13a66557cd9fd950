#!/usr/bin/env bash
# The RPC client of Stellar's Go SDK does not see an error whose id is null: it waits until its context ends, and the
# server's words are lost. JSON-RPC 2.0 has null there where a server could not read the request's id; stellar-rpc
# answers so to an id that is an object, and gateways do so for limits. With the request's id the same error arrives at
# once. Needs Go 1.24 or later and the Go module proxy.
set -euo pipefail
dir=$(mktemp -d)
trap 'chmod -R u+w "$dir"; rm -rf "$dir"' EXIT
cd "$dir"
cat >main.go <<'GO'
package main

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"time"

	"github.com/stellar/go-stellar-sdk/clients/rpcclient"
)

func main() {
	for _, id := range []string{"1", "null"} {
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Content-Type", "application/json")
			fmt.Fprintf(w, `{"jsonrpc":"2.0","id":%s,"error":{"code":-32005,"message":"request rate limited"}}`, id)
		}))
		ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
		_, err := rpcclient.NewClient(server.URL, nil).GetHealth(ctx)
		fmt.Printf("id %s: %v\n", id, err)
		cancel()
		server.Close()
	}
}
GO
export GOPATH=$dir/path GOCACHE=$dir/cache GOFLAGS='-modcacherw -mod=mod'
go mod init finding 2>/dev/null
go get github.com/stellar/go-stellar-sdk@v0.7.3 2>/dev/null
go version
go list -m github.com/stellar/go-stellar-sdk github.com/creachadair/jrpc2
go run . 2>/dev/null | tee seen
diff seen - <<'SEEN'
id 1: [-32005] request rate limited
id null: context deadline exceeded
SEEN
