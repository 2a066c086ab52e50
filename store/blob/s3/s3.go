// Package s3 is a bucket of Amazon S3, or of a server that speaks its protocol, such as Ceph,
// versitygw and MinIO.
package s3

import (
	"bytes"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"iter"
	"net/url"
	"os"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/minio/minio-go/v7"
	"github.com/minio/minio-go/v7/pkg/credentials"

	"loupe/store/blob"
)

// Scheme is what the address of a bucket begins with.
const Scheme = "s3://"

// Bucket is the part of a bucket below one prefix.
type Bucket struct {
	client         *minio.Client
	bucket, prefix string
	address        string

	probed      sync.Mutex
	known       bool // whether the server takes conditions is
	conditional bool

	there atomic.Bool // the bucket is
}

var _ blob.Bucket = (*Bucket)(nil)

// Open makes a bucket of an address:
//
//	s3://bucket/prefix?endpoint=https://host:9000&region=eu-central-1
//
// Without an endpoint it is Amazon's. Nothing is sent yet. Keys are those of the usual
// variables (AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY, AWS_SESSION_TOKEN), of the profile
// AWS_PROFILE in ~/.aws/credentials, or of the role of a container or a web identity where
// the variables of those are set.
func Open(address string) (*Bucket, error) {
	u, err := url.Parse(address)
	if err != nil {
		return nil, fmt.Errorf("cannot read %q: it is no address", Scheme+"…")
	}
	if u.User != nil {
		return nil, errors.New("keys do not belong into the address of a bucket: AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY name them")
	}
	if u.Scheme+"://" != Scheme || u.Host == "" || u.Fragment != "" {
		return nil, fmt.Errorf("want s3://bucket/prefix, perhaps with ?endpoint=https://host:port&region=name, not %q", address)
	}
	q := u.Query()
	endpoint, region := q.Get("endpoint"), q.Get("region")
	for name := range q {
		if name != "endpoint" && name != "region" {
			return nil, fmt.Errorf("the address of a bucket has endpoint and region, not %q", name)
		}
	}
	secure, host := true, "s3.amazonaws.com"
	if endpoint != "" {
		e, err := url.Parse(endpoint)
		if err != nil || e.Scheme != "http" && e.Scheme != "https" || e.Host == "" || strings.Trim(e.Path, "/") != "" || e.User != nil {
			return nil, fmt.Errorf("endpoint: want https://host:port, not %q", endpoint)
		}
		secure, host = e.Scheme == "https", e.Host
	}
	if region == "" {
		region = firstOf(os.Getenv("AWS_REGION"), os.Getenv("AWS_DEFAULT_REGION"))
	}
	if region == "" && endpoint != "" {
		region = "us-east-1" // what servers of one's own take
	}
	client, err := minio.New(host, &minio.Options{Creds: keys(), Secure: secure, Region: region, MaxRetries: 3})
	if err != nil {
		return nil, err
	}
	prefix := strings.Trim(u.Path, "/")
	if prefix != "" {
		prefix += "/"
	}
	shown := Scheme + u.Host + "/" + strings.TrimSuffix(prefix, "/")
	if endpoint != "" {
		shown += " at " + endpoint
	}
	return &Bucket{client: client, bucket: u.Host, prefix: prefix, address: shown}, nil
}

func firstOf(list ...string) string {
	for _, s := range list {
		if s != "" {
			return s
		}
	}
	return ""
}

// keys are found anew when they have run out.
func keys() *credentials.Credentials {
	chain := []credentials.Provider{&credentials.EnvAWS{}, &credentials.FileAWSCredentials{}}
	for _, name := range []string{"AWS_WEB_IDENTITY_TOKEN_FILE", "AWS_CONTAINER_CREDENTIALS_RELATIVE_URI", "AWS_CONTAINER_CREDENTIALS_FULL_URI"} {
		if os.Getenv(name) != "" {
			chain = append(chain, &credentials.IAM{})
			break
		}
	}
	return credentials.NewChainCredentials(chain)
}

// String is what the bucket is called.
func (b *Bucket) String() string { return b.address }

// failed makes an error of one of the client, which has no keys in it.
func (b *Bucket) failed(what, name string, err error) error {
	r := minio.ToErrorResponse(err)
	switch {
	case r.Code == "NoSuchBucket":
		return b.missing()
	case r.StatusCode == 404 && r.Code == "NoSuchKey":
		err = blob.ErrNotFound
	case r.StatusCode == 412 || r.Code == "PreconditionFailed":
		err = blob.ErrExists
	case r.StatusCode == 403:
		err = fmt.Errorf("%s: %s (the keys are those of AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or of AWS_PROFILE in ~/.aws/credentials)", r.Code, r.Message)
	}
	return fmt.Errorf("cannot %s %s in %s: %w", what, name, b.address, err)
}

// missing says that there is no bucket of that name.
func (b *Bucket) missing() error {
	return fmt.Errorf("there is no bucket %q (%s): create it, or correct its name or the endpoint", b.bucket, b.address)
}

// Put is that of [blob.Bucket]. Where the server does not take conditions, names are looked
// up before.
func (b *Bucket) Put(ctx context.Context, name string, r io.ReadSeeker, size int64) error {
	conditional, err := b.Conditional(ctx)
	if err != nil {
		return err
	}
	if !conditional {
		_, err := b.client.StatObject(ctx, b.bucket, b.prefix+name, minio.StatObjectOptions{})
		if err == nil {
			return fmt.Errorf("cannot put %s into %s: %w", name, b.address, blob.ErrExists)
		}
		if r := minio.ToErrorResponse(err); r.StatusCode != 404 {
			return b.failed("look up", name, err)
		}
	}
	return b.put(ctx, name, r, size, conditional)
}

func (b *Bucket) put(ctx context.Context, name string, r io.ReadSeeker, size int64, conditional bool) error {
	opt := minio.PutObjectOptions{ContentType: "application/octet-stream", SendContentMd5: true, DisableMultipart: size < 1<<30}
	if conditional {
		opt.SetMatchETagExcept("*")
	}
	if _, err := b.client.PutObject(ctx, b.bucket, b.prefix+name, r, size, opt); err != nil {
		return b.failed("put", name, err)
	}
	return nil
}

// Conditional tells whether the server refuses a second blob under a name (If-None-Match),
// which is tried once.
func (b *Bucket) Conditional(ctx context.Context) (bool, error) {
	b.probed.Lock()
	defer b.probed.Unlock()
	if b.known {
		return b.conditional, nil
	}
	name := "probe-" + rand.Text()
	for i := range 2 {
		err := b.put(ctx, name, bytes.NewReader([]byte("loupe")), 5, true)
		refused := errors.Is(err, blob.ErrExists)
		if i == 0 && refused || err != nil && !refused && minio.ToErrorResponse(errors.Unwrap(err)).StatusCode == 501 {
			break // a server that does not know the condition
		}
		if err != nil && !refused {
			return false, err
		}
		b.conditional = refused
	}
	b.known = true
	return b.conditional, b.Delete(ctx, name)
}

// Get is that of [blob.Bucket].
func (b *Bucket) Get(ctx context.Context, name string) (io.ReadCloser, error) {
	o, err := b.client.GetObject(ctx, b.bucket, b.prefix+name, minio.GetObjectOptions{})
	if err == nil {
		if _, err = o.Stat(); err != nil { // this is when it is asked for
			o.Close()
		}
	}
	if err == nil {
		b.there.Store(true)
		return o, nil
	}
	if err = b.failed("get", name, err); errors.Is(err, blob.ErrNotFound) && !b.there.Load() {
		// What is asked for by HEAD has no body that says what is not there.
		there, lerr := b.client.BucketExists(ctx, b.bucket)
		if lerr == nil && !there {
			return nil, b.missing()
		}
		b.there.Store(lerr == nil)
	}
	return nil, err
}

// List is that of [blob.Bucket].
func (b *Bucket) List(ctx context.Context, prefix string) iter.Seq2[string, error] {
	return func(yield func(string, error) bool) {
		ctx, stop := context.WithCancel(ctx)
		defer stop()
		for o := range b.client.ListObjects(ctx, b.bucket, minio.ListObjectsOptions{Prefix: b.prefix + prefix, Recursive: true}) {
			if o.Err != nil {
				yield("", b.failed("list", prefix+"…", o.Err))
				return
			}
			if !yield(strings.TrimPrefix(o.Key, b.prefix), nil) {
				return
			}
		}
	}
}

// Delete is that of [blob.Bucket].
func (b *Bucket) Delete(ctx context.Context, name string) error {
	if err := b.client.RemoveObject(ctx, b.bucket, b.prefix+name, minio.RemoveObjectOptions{}); err != nil {
		if err = b.failed("delete", name, err); errors.Is(err, blob.ErrNotFound) {
			return nil
		}
		return err
	}
	return nil
}
