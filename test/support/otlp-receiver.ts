import { once } from 'node:events'
import { createServer, type IncomingHttpHeaders, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { buffer } from 'node:stream/consumers'
import { gunzipSync } from 'node:zlib'

type Attributes = Readonly<Record<string, string | number | boolean>>

export interface ReceivedSpan {
  readonly traceId: string
  readonly spanId: string
  readonly parent: string
  readonly state: string
  readonly name: string
  /** 1 internal, 2 server. */
  readonly kind: number
  /** Nanoseconds since 1970. */
  readonly begin: bigint
  readonly end: bigint
  readonly attributes: Attributes
  /** 0 unset, 2 error. */
  readonly status: number
  readonly message: string
  readonly resource: Attributes
}

export interface ReceivedPoint {
  readonly name: string
  readonly type: 'sum' | 'gauge' | 'histogram'
  readonly attributes: Attributes
  /** Of a histogram its sum. */
  readonly value: number
  /** Of a histogram. */
  readonly count: number
  readonly bounds: readonly number[]
  readonly counts: readonly number[]
}

export interface OtlpReceiver {
  /** For `OTEL_EXPORTER_OTLP_ENDPOINT`. */
  readonly url: string
  readonly spans: readonly ReceivedSpan[]
  /** Of each export the points. */
  readonly metrics: ReadonlyArray<readonly ReceivedPoint[]>
  readonly requests: ReadonlyArray<{ readonly path: string; readonly headers: IncomingHttpHeaders }>
  /** Replaces the answer. */
  misbehave: ((response: ServerResponse) => void) | undefined
}

/** A collector of the test's own, which reads what OTLP over HTTP sends as protobuf. */
export async function startOtlpReceiver(t: { after(work: () => Promise<void>): void }): Promise<OtlpReceiver> {
  const spans: ReceivedSpan[] = []
  const metrics: ReceivedPoint[][] = []
  const requests: Array<OtlpReceiver['requests'][number]> = []
  const serve = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    // A service that the test kills may be sending.
    const sent = await buffer(request).catch(() => undefined)
    if (!sent) return
    const body = request.headers['content-encoding'] === 'gzip' ? gunzipSync(sent) : sent
    const path = request.url ?? ''
    requests.push({ path, headers: request.headers })
    if (receiver.misbehave) return receiver.misbehave(response)
    if (path === '/v1/traces') spans.push(...readSpans(body))
    if (path === '/v1/metrics') metrics.push(readPoints(body))
    response.setHeader('content-type', 'application/x-protobuf').end()
  }
  const server = createServer((request, response) => void serve(request, response))
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.after(async () => {
    server.close()
    server.closeAllConnections()
    await once(server, 'close')
  })
  const { port } = server.address() as AddressInfo
  const receiver: OtlpReceiver = { url: `http://127.0.0.1:${port}`, spans, metrics, requests, misbehave: undefined }
  return receiver
}

/** Field number → its values: numbers of varints, otherwise bytes. */
class Message {
  readonly #fields = new Map<number, Array<bigint | Buffer>>()

  constructor(bytes: Buffer) {
    let place = 0
    const varint = (): bigint => {
      let value = 0n
      for (let shift = 0n; ; shift += 7n) {
        const byte = bytes.readUInt8(place++)
        value |= BigInt(byte & 127) << shift
        if (byte < 128) return value
      }
    }
    const take = (count: number): Buffer => bytes.subarray(place, (place += count))
    while (place < bytes.length) {
      const tag = Number(varint())
      const type = tag & 7
      const value = type === 0 ? varint() : take(type === 1 ? 8 : type === 5 ? 4 : Number(varint()))
      const field = tag >> 3
      this.#fields.set(field, [...(this.#fields.get(field) ?? []), value])
    }
  }

  #bytes(field: number): Buffer[] {
    return (this.#fields.get(field) ?? []).filter(value => typeof value !== 'bigint')
  }

  has = (field: number): boolean => this.#fields.has(field)
  all = (field: number): Message[] => this.#bytes(field).map(bytes => new Message(bytes))
  one = (field: number): Message => this.all(field)[0] ?? new Message(Buffer.alloc(0))
  bytes = (field: number): Buffer => Buffer.concat(this.#bytes(field))
  text = (field: number): string => this.bytes(field).toString()
  hex = (field: number): string => this.bytes(field).toString('hex')
  integer = (field: number): number => Number(this.#fields.get(field)?.find(value => typeof value === 'bigint') ?? 0)
  fixed = (field: number): bigint => (this.has(field) ? this.bytes(field).readBigUInt64LE() : 0n)
  double = (field: number): number => (this.has(field) ? this.bytes(field).readDoubleLE() : 0)

  attributes(field: number): Attributes {
    return Object.fromEntries(this.all(field).map(pair => [pair.text(1), valueOf(pair.one(2))]))
  }
}

function valueOf(any: Message): string | number | boolean {
  if (any.has(2)) return any.integer(2) === 1
  if (any.has(3)) return any.integer(3)
  return any.has(4) ? any.double(4) : any.text(1)
}

const readSpans = (body: Buffer): ReceivedSpan[] =>
  new Message(body).all(1).flatMap(group =>
    group.all(2).flatMap(scope =>
      scope.all(2).map(span => ({
        traceId: span.hex(1),
        spanId: span.hex(2),
        state: span.text(3),
        parent: span.hex(4),
        name: span.text(5),
        kind: span.integer(6),
        begin: span.fixed(7),
        end: span.fixed(8),
        attributes: span.attributes(9),
        status: span.one(15).integer(3),
        message: span.one(15).text(2),
        resource: group.one(1).attributes(1),
      })),
    ),
  )

const readPoints = (body: Buffer): ReceivedPoint[] =>
  new Message(body).all(1).flatMap(group =>
    group.all(2).flatMap(scope =>
      scope.all(2).flatMap(metric => {
        const [type, field] = metric.has(9)
          ? (['histogram', 9] as const)
          : metric.has(7)
            ? (['sum', 7] as const)
            : (['gauge', 5] as const)
        const of = { name: metric.text(1), type }
        return metric
          .one(field)
          .all(1)
          .map(point => ({ ...of, ...(of.type === 'histogram' ? histogram(point) : number(point)) }))
      }),
    ),
  )

const number = (point: Message) => ({
  attributes: point.attributes(7),
  value: point.has(6) ? Number(point.bytes(6).readBigInt64LE()) : point.double(4),
  count: 0,
  bounds: [],
  counts: [],
})

const histogram = (point: Message) => ({
  attributes: point.attributes(9),
  value: point.double(5),
  count: Number(point.fixed(4)),
  bounds: packed(point.bytes(7), (bytes, place) => bytes.readDoubleLE(place)),
  counts: packed(point.bytes(6), (bytes, place) => Number(bytes.readBigUInt64LE(place))),
})

const packed = (bytes: Buffer, read: (bytes: Buffer, place: number) => number): number[] =>
  Array.from({ length: bytes.length / 8 }, (_, index) => read(bytes, index * 8))
