// Resumable uploads: a large file in pieces of 8 MiB compared with one request, and the memory that many at once take.
import { Agent, request as httpRequest } from 'node:http'
import { setTimeout as delay } from 'node:timers/promises'
import { ask, interleave, isQuick, medianOf, memoryOf, newContext, ratioOf, signIn, startService } from './support.mjs'

const MIB = 2 ** 20
const SIZE = (isQuick ? 16 : 1024) * MIB
const PIECE = 8 * MIB
const AT_ONCE = isQuick ? 5 : 50
/** Milliseconds between two chunks of 64 KiB of a client with a connection of its own. */
const PAUSE = isQuick ? 0 : 200
const CHUNK = Buffer.alloc(2 ** 16, 7)
const TUS = { 'tus-resumable': '1.0.0' }
/** The verification of stored files would run in between. */
const SETTINGS = { 'service.data.quota': 'on', 'service.data.scrub-interval': '0' }
const agent = new Agent({ keepAlive: true })

export async function measure(say) {
  const rows = [await rate(say)]
  for (const [what, send] of [
    ['plain', putFile],
    ['resumable', sendPieces],
  ])
    rows.push(await growth(what, send, say))
  agent.destroy()
  return { title: 'Resumable uploads', rows }
}

async function rate(say) {
  const service = await startService(SETTINGS)
  try {
    const place = await placeIn(service, await signIn(service))
    const timed = send => async () => {
      const begun = performance.now()
      await send(place, { size: SIZE, piece: PIECE })
      return { seconds: (performance.now() - begun) / 1000 }
    }
    const { pieces, whole } = await interleave(isQuick ? 1 : 3, { pieces: timed(sendPieces), whole: timed(putFile) })
    const seconds = result => result.seconds
    const mebibytes = results => `${Math.round(SIZE / MIB / medianOf(results, seconds))} MiB/s`
    const note = `${mebibytes(pieces)} : ${mebibytes(whole)}`
    say(`one file: ${note}`)
    return {
      what: `${SIZE / MIB} MiB in pieces of 8 MiB : one request`,
      value: ratioOf(whole, pieces, seconds),
      unit: 'ratio',
      goal: { least: 0.8 },
      note,
    }
  } finally {
    await service.stop()
  }
}

async function growth(what, send, say) {
  const service = await startService(SETTINGS)
  try {
    const headers = await signIn(service)
    const places = []
    for (let n = 0; n < AT_ONCE; n++) places.push(await placeIn(service, headers))
    await delay(1000)
    const before = await memoryOf(service.pid)
    await Promise.all(places.map(place => send(place, { size: 12 * MIB, piece: 4 * MIB, pause: PAUSE })))
    const value = ((await memoryOf(service.pid)).peak - before.peak) / 1e6
    say(`${AT_ONCE} at once, ${what}: ${Math.round(value)} MB`)
    return { what: `growth of memory by ${AT_ONCE} ${what} uploads at once`, value, unit: 'MB', goal: { most: 32 } }
  } finally {
    await service.stop()
  }
}

async function placeIn(service, headers) {
  const context = await newContext(service, headers)
  const { entryId } = JSON.parse(await ask(service, headers, 'POST', context, {}))
  return { url: `${service.base}${context}`, entryId, headers }
}

const putFile = ({ url, entryId, headers }, { size, pause }) =>
  send(`${url}/resource/${entryId}`, 'PUT', { ...headers, 'content-type': 'application/octet-stream' }, { size, pause })

async function sendPieces({ url, entryId, headers }, { size, piece, pause }) {
  const begun = { ...headers, ...TUS, 'upload-length': size }
  const { location } = (await send(`${url}/uploads/${entryId}`, 'POST', begun, { size: 0 })).headers
  const type = 'application/offset+octet-stream'
  for (let offset = 0; offset < size; offset += piece) {
    const all = { ...headers, ...TUS, 'upload-offset': offset, 'content-type': type }
    await send(location, 'PATCH', all, { size: piece, pause })
  }
}

async function send(url, method, headers, { size, pause = 0 }) {
  const { promise, resolve, reject } = Promise.withResolvers()
  const sending = httpRequest(url, { agent, method, headers: { ...headers, 'content-length': size } }, resolve)
  sending.on('error', reject)
  for (let left = size; left > 0; left -= CHUNK.length) {
    if (!sending.write(CHUNK)) await new Promise(done => sending.once('drain', done))
    if (pause > 0) await delay(pause)
  }
  sending.end()
  const response = await promise
  response.resume()
  if (response.statusCode >= 300) throw new Error(`uploading: ${response.statusCode}`)
  return response
}
