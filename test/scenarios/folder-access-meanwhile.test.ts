import assert from 'node:assert/strict'
import { test } from 'node:test'
import { after } from '../support/after.ts'
import { moveInto, share } from '../support/folder-access.ts'
import type { Visitor } from '../support/http-client.ts'
import { newList } from '../support/lists.ts'
import { isLong } from '../support/proofs.ts'
import { newFile } from '../support/public-links.ts'
import { find } from '../support/search.ts'
import { newContext, newUser, startInProcess } from '../support/service.ts'

/** Moves, shares and revocations beside requests of people whom they concern. */

const service = await startInProcess({ after })
const admin = await service.admin()
const anna = await newUser(service, admin)
const carla = await newUser(service, admin)

/** Asks again and again until told to stop; resolves to the number of each status. */
function reading(visitor: Visitor, ...paths: readonly string[]) {
  const end = new AbortController()
  /** A read that is in progress when its right ends is cut off (D3.8): 0. */
  const statusOf = async (path: string): Promise<number> => {
    try {
      return (await visitor.get(path)).status
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'ECONNRESET') return 0
      throw error
    }
  }
  const work = (async () => {
    const seen = new Map<number, number>()
    while (!end.signal.aborted) {
      for (const status of await Promise.all(paths.map(statusOf))) seen.set(status, (seen.get(status) ?? 0) + 1)
    }
    return seen
  })()
  return async () => {
    end.abort()
    return await work
  }
}

test('a file that is never shared is never read, whatever its folders give before and after it is in them (D11.7)', async () => {
  const context = await newContext(admin, [anna.id])
  const [one, other] = [await newList(anna.visitor, context), await newList(anna.visitor, context)]
  const file = await newFile(anna.visitor, context, { name: 'secret.txt', bytes: 'secret' })
  await moveInto(anna.visitor, context, file, one)
  const stop = reading(
    carla.visitor,
    `${context}/resource/${file}`,
    `${context}/metadata/${file}`,
    `${context}/entry/${file}?includeAll`,
  )
  for (let round = 0; round < (isLong ? 1000 : 40); round++) {
    await moveInto(anna.visitor, context, file, other)
    await share(anna.visitor, context, one, { readers: [carla.id] })
    assert.equal(
      (await find(carla.visitor, '*:*')).resource.children.some(({ entryId }) => entryId === file),
      false,
    )
    await share(anna.visitor, context, one, {})
    await moveInto(anna.visitor, context, file, one)
  }
  assert.deepEqual([...(await stop()).keys()], [403])
})

test('each request after the response to a revocation or a move is refused, and each after a share is not (D11.7)', async () => {
  const context = await newContext(admin, [anna.id])
  const [shared, own] = [await newList(anna.visitor, context), await newList(anna.visitor, context)]
  const file = await newFile(anna.visitor, context, { name: 'a.txt', bytes: 'a', list: own })
  const path = `${context}/resource/${file}`
  await share(anna.visitor, context, shared, { readers: [carla.id] })
  const stop = reading(carla.visitor, path)
  for (let round = 0; round < (isLong ? 1000 : 30); round++) {
    await moveInto(anna.visitor, context, file, shared)
    assert.equal((await carla.visitor.get(path)).status, 200)
    await share(anna.visitor, context, shared, {})
    assert.equal((await carla.visitor.get(path)).status, 403)
    await share(anna.visitor, context, shared, { readers: [carla.id] })
    assert.equal((await carla.visitor.get(path)).status, 200)
    await moveInto(anna.visitor, context, file, own)
    assert.equal((await carla.visitor.get(path)).status, 403)
  }
  await stop()
})
