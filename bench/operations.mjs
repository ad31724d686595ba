// Operations on many entries, and how long another user waits beside them.
import { setTimeout as pause } from 'node:timers/promises'
import { ask, isQuick, newContext, signIn, startService } from './support.mjs'

const ENTRIES = isQuick ? 200 : 10_000
const AT_ONCE = 16
const POLL_MS = 50
const PROBE_MS = 10

export async function measure(say) {
  const service = await startService()
  try {
    const admin = await signIn(service)
    const context = await newContext(service, admin)
    const space = await newContext(service, admin)
    const [from, to] = [await newFolder(service, admin, context), await newFolder(service, admin, context)]
    const entries = await fill(service, admin, { context, list: from })
    const copies = await newFolder(service, admin, space)
    const { entryId: user } = JSON.parse(
      await ask(service, admin, 'POST', '_principals?graphtype=user', { resource: { name: 'reader' } }),
    )
    const trash = { action: 'trash', entries }
    const measured = [
      { action: 'share', entries, share: { principal: user, role: 'reader' } },
      { action: 'tag', entries, tags: { add: ['summer'] } },
      { action: 'move', list: from, to: { context, list: to } },
      { action: 'copy', entries, to: { context: space, list: copies } },
      trash,
      { action: 'restore', entries },
    ]
    const rows = []
    const run = async body => {
      const { seconds, slowest } = await carryOut(service, admin, { context, body })
      say(`${body.action} ${seconds.toFixed(1)} s, others ${slowest.toFixed(0)} ms`)
      rows.push(
        { what: `${body.action} ${ENTRIES} entries`, value: seconds, unit: 's', goal: { most: 10 } },
        { what: `slowest request of a guest beside ${body.action}`, value: slowest, unit: 'ms', goal: { most: 250 } },
      )
    }
    for (const body of measured) await run(body)
    await carryOut(service, admin, { context, body: trash })
    await run({ action: 'purge', entries })
    return { title: 'Operations on many entries', rows }
  } finally {
    await service.stop()
  }
}

async function newFolder(service, headers, context) {
  return JSON.parse(await ask(service, headers, 'POST', `${context}?graphtype=list`, { resource: [] })).entryId
}

async function fill(service, headers, { context, list }) {
  const ids = []
  let next = 0
  const query = `graphtype=string&list=${encodeURIComponent(`${service.base}${context}/resource/${list}`)}`
  const work = async () => {
    while (next++ < ENTRIES) {
      const made = await ask(service, headers, 'POST', `${context}?${query}`, { resource: 'text' })
      ids.push(JSON.parse(made).entryId)
    }
  }
  await Promise.all(Array.from({ length: AT_ONCE }, work))
  return ids
}

/** Carries an operation out while a guest asks for the session again and again; resolves to the time of both. */
async function carryOut(service, headers, { context, body }) {
  const path = `${context}/operations`
  const begun = performance.now()
  let operation = JSON.parse(await ask(service, headers, 'POST', path, body))
  const probe = { isOver: false }
  const slowest = slowestRequest(service, probe)
  while (operation.state === 'running') {
    await pause(POLL_MS)
    operation = JSON.parse(await ask(service, headers, 'GET', `${path}/${operation.id}`))
  }
  const seconds = (performance.now() - begun) / 1000
  if (operation.state !== 'done' || operation.failed > 0) throw new Error(JSON.stringify(operation).slice(0, 500))
  probe.isOver = true
  return { seconds, slowest: await slowest }
}

async function slowestRequest(service, probe) {
  let slowest = 0
  while (!probe.isOver) {
    const begun = performance.now()
    await ask(service, {}, 'GET', 'auth/user')
    slowest = Math.max(slowest, performance.now() - begun)
    await pause(PROBE_MS)
  }
  return slowest
}
