package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"net/url"
	"os"
	"strings"
	"time"

	"github.com/spf13/cobra"
)

const (
	defaultServer = "http://127.0.0.1:7380"
	// envServer and envTokenFile stand for flags of the commands that ask a
	// node. They are no settings of a node.
	envServer    = "MURMURATE_SERVER"
	envTokenFile = "MURMURATE_TOKEN_FILE" //nolint:gosec // the name of a variable

	clientTimeout = 5 * time.Second
	// maxAnswer bounds what is read of an answer.
	maxAnswer = 16 << 20
)

// client asks a running node over HTTP.
type client struct {
	server    string // base URL
	tokenFile string // file that holds the token for administration, or empty
}

// flags adds the flags that say which node to ask and as whom.
func (c *client) flags(sh *shell, cmd *cobra.Command) {
	server := sh.getenv(envServer)
	if server == "" {
		server = defaultServer
	}
	cmd.Flags().StringVar(&c.server, "server", server, "`URL` of the node to ask; also "+envServer)
	cmd.Flags().StringVar(&c.tokenFile, "token-file", sh.getenv(envTokenFile), "`FILE` with the token for administration; also "+envTokenFile)
}

// answer is what a node said.
type answer struct {
	status int
	body   []byte
}

// get asks for target, a path with query.
func (c *client) get(ctx context.Context, target string) (answer, error) {
	return c.do(ctx, http.MethodGet, target, nil)
}

// do sends body as JSON, if it is not nil, and returns an answer in JSON of
// any status. The error is an *unreachableError without an answer, and a
// *problem if the answer is one.
func (c *client) do(ctx context.Context, method, target string, body any) (answer, error) {
	ctx, cancel := context.WithTimeout(ctx, clientTimeout)
	defer cancel()
	request, err := c.request(ctx, method, target, body)
	if err != nil {
		return answer{}, err
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return answer{}, c.unreachable(err)
	}
	defer func() { _ = response.Body.Close() }()
	a := answer{status: response.StatusCode}
	if a.body, err = io.ReadAll(io.LimitReader(response.Body, maxAnswer)); err != nil {
		return answer{}, c.unreachable(err)
	}
	kind, _, _ := mime.ParseMediaType(response.Header.Get("Content-Type"))
	switch {
	case kind == "application/problem+json":
		return a, c.newProblem(a)
	case kind != "application/json" || !json.Valid(a.body):
		return a, fmt.Errorf("%s %s answered %s without JSON: is %s a murmurate node?", method, target, response.Status, c.server)
	}
	return a, nil
}

func (c *client) request(ctx context.Context, method, target string, body any) (*http.Request, error) {
	base, err := url.Parse(c.server)
	if err != nil || base.Host == "" || base.Scheme != "http" && base.Scheme != "https" {
		return nil, usagef("--server must be a URL like %s, got %q", defaultServer, c.server)
	}
	var content bytes.Buffer
	if body != nil {
		if err := json.NewEncoder(&content).Encode(body); err != nil {
			return nil, err
		}
	}
	request, err := http.NewRequestWithContext(ctx, method, strings.TrimSuffix(c.server, "/")+target, &content)
	if err != nil {
		return nil, err
	}
	if body != nil {
		request.Header.Set("Content-Type", "application/json")
	}
	if c.tokenFile != "" {
		token, err := os.ReadFile(c.tokenFile)
		if err != nil {
			return nil, fmt.Errorf("token file: %w", err)
		}
		request.Header.Set("Authorization", "Bearer "+strings.TrimSpace(string(token)))
	}
	return request, nil
}

func (c *client) unreachable(err error) error {
	if wrapped, ok := errors.AsType[*url.Error](err); ok {
		err = wrapped.Err // without the URL, which is named anyway
	}
	return &unreachableError{fmt.Sprintf("no answer from %s: %v; start a node with 'murmurate serve', or name another with --server", c.server, err)}
}

// problem is a refusal by a node (RFC 9457).
type problem struct {
	Title  string `json:"title"`
	Detail string `json:"detail"`
	status int
	// tokenFile holds the token that was sent, or is empty.
	tokenFile string
}

// newProblem reads the problem from a, which c was answered.
func (c *client) newProblem(a answer) error {
	p := &problem{status: a.status, tokenFile: c.tokenFile}
	if err := json.Unmarshal(a.body, p); err != nil || p.Title == "" {
		p.Title = http.StatusText(a.status)
	}
	return p
}

func (p *problem) Error() string {
	text := fmt.Sprintf("%s (%d)", p.Title, p.status)
	if p.Detail != "" {
		text += ": " + p.Detail
	}
	switch {
	case p.status == http.StatusForbidden && strings.Contains(p.Detail, adminSetting):
		text += "; name its address with --server"
	case p.status == http.StatusUnauthorized && p.tokenFile != "":
		text += "; --token-file is " + p.tokenFile
	case p.status == http.StatusUnauthorized || p.status == http.StatusForbidden:
		text += "; give a token with --token-file"
	}
	return text
}
