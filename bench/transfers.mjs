// Downloads in progress: what a thousand of them take, and how soon they end with the session that they belong to.
import { once } from 'node:events'
import { connect } from 'node:net'
import { setTimeout as pause } from 'node:timers/promises'
import { cpuOf } from './load.mjs'
import { ask, interleave, isQuick, medianOf, memoryOf, newContext, signIn, startService } from './support.mjs'

const DOWNLOADS = isQuick ? 20 : 1000
/** More than the buffers of the system and of both ends hold, so that each download is in progress until it is ended. */
const BYTES = 64 * 2 ** 20
const ROUNDS = isQuick ? 1 : 5
const SETTLING_MS = 1000
const OBSERVED_MS = isQuick ? 200 : 5000

export async function measure(say) {
  const service = await startService()
  try {
    const admin = await signIn(service)
    const context = await newContext(service, admin)
    const { entryId } = JSON.parse(await ask(service, admin, 'POST', `${context}?graphtype=none`, {}))
    const put = await fetch(`${service.base}${context}/resource/${entryId}`, {
      method: 'PUT',
      headers: { ...admin, 'content-type': 'application/octet-stream' },
      body: new Uint8Array(BYTES),
    })
    if (!put.ok) throw new Error(`uploading the file: ${put.status} ${await put.text()}`)
    const results = await interleave(ROUNDS, { downloads: () => round(service, `${context}/resource/${entryId}`, say) })
    const of = name => medianOf(results.downloads, result => result[name])
    const many = `${DOWNLOADS} downloads`
    return {
      title: 'Downloads in progress',
      rows: [
        { what: `memory of ${many}`, value: of('memory'), unit: 'bytes' },
        { what: `part of a core that ${many} take while their clients read nothing`, value: of('busy'), unit: '%' },
        {
          what: `from the end of the session to the end of ${many}`,
          value: of('end'),
          unit: 'ms',
          goal: { most: 100 },
        },
      ],
    }
  } finally {
    await service.stop()
  }
}

async function round(service, path, say) {
  const session = await signIn(service)
  const before = await memoryOf(service.pid)
  const downloads = await Promise.all(Array.from({ length: DOWNLOADS }, () => begin(service.base + path, session)))
  // The buffers of the system are filled first.
  while ((await usedIn(SETTLING_MS, service.pid)) > SETTLING_MS / 10);
  const busy = (100 * (await usedIn(OBSERVED_MS, service.pid))) / OBSERVED_MS
  const memory = (await memoryOf(service.pid)).now - before.now
  await ask(service, session, 'GET', 'auth/logout')
  const from = performance.now()
  // A client that reads nothing learns of the end of its connection when it sends something.
  while (downloads.some(({ destroyed }) => !destroyed)) {
    for (const socket of downloads) if (!socket.destroyed) socket.write('\r\n')
    await pause(1)
  }
  const end = performance.now() - from
  say(`memory ${(memory / 2 ** 20).toFixed(1)} MiB, ${busy.toFixed(1)} % of a core, ended after ${end.toFixed(0)} ms`)
  return { memory, busy, end }
}

/** A download of whose response only the beginning is read. */
async function begin(url, headers) {
  const { hostname, port, pathname } = new URL(url)
  const socket = connect(Number(port), hostname)
  socket.on('error', () => {})
  socket.write(`GET ${pathname} HTTP/1.1\r\nhost: ${hostname}\r\ncookie: ${headers.cookie}\r\n\r\n`)
  await once(socket, 'readable')
  const line = String(socket.read(12))
  if (line !== 'HTTP/1.1 200') throw new Error(`a download began with ${line}`)
  return socket
}

/** Milliseconds of processor time that the process uses within `ms`. */
async function usedIn(ms, pid) {
  const before = cpuOf(pid)
  await pause(ms)
  return 1000 * (cpuOf(pid) - before)
}
