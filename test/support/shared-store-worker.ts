import { parentPort, workerData } from 'node:worker_threads'
import { realSystem } from '../../src/base/system.ts'
import { SharedEphemeralStore } from '../../src/stores/shared/shared-ephemeral-store.ts'
import { WriteTurn } from '../../src/stores/shared/write-turn.ts'

/** What a thread does with a store and a turn that it shares with others, for tests of races. */
export type Task =
  | { readonly kind: 'count'; readonly store: SharedArrayBuffer; readonly keys: number; readonly rounds: number }
  | { readonly kind: 'win'; readonly store: SharedArrayBuffer; readonly rounds: number }
  | { readonly kind: 'churn'; readonly store: SharedArrayBuffer; readonly seed: number; readonly rounds: number }
  | {
      readonly kind: 'turn'
      readonly turn: SharedArrayBuffer
      readonly probe: SharedArrayBuffer
      readonly rounds: number
    }
  | {
      readonly kind: 'await commits'
      readonly turn: SharedArrayBuffer
      readonly awaited: number
      readonly end: SharedArrayBuffer
    }

export const capacity = [{ prefix: 'few:', max: 50 }]
const TTL = 1_000_000

const store = (shared: SharedArrayBuffer): SharedEphemeralStore =>
  new SharedEphemeralStore(realSystem, { shared, capacity, sweepInterval: 1 })

async function work(task: Task): Promise<unknown> {
  switch (task.kind) {
    case 'count': {
      const counters = store(task.store)
      for (let round = 0; round < task.rounds; round++) {
        const key = `a:${round % task.keys}`
        await counters.update<number>(key, (old = 0) => ({ value: old + 1, ttl: TTL }))
      }
      await counters.close()
      return undefined
    }
    case 'win': {
      const shared = store(task.store)
      const won = { added: 0, taken: 0 }
      for (let round = 0; round < task.rounds; round++) {
        if (await shared.add(`add:${round}`, 1, TTL)) won.added++
        if ((await shared.take(`take:${round}`)) !== undefined) won.taken++
      }
      await shared.close()
      return won
    }
    case 'churn':
      return await churn(store(task.store), task)
    case 'turn': {
      const turn = new WriteTurn(task.turn)
      const probe = new Int32Array(task.probe)
      for (let round = 0; round < task.rounds; round++) {
        await turn.run(async () => {
          if (Atomics.add(probe, 0, 1) !== 0) throw new Error('two threads have the turn')
          await new Promise(resolve => setImmediate(resolve))
          Atomics.sub(probe, 0, 1)
        })
      }
      return undefined
    }
    case 'await commits': {
      const turn = new WriteTurn(task.turn)
      const end = new Int32Array(task.end)
      turn.waitForCommits(task.awaited, () => Atomics.load(end, 0) !== 0)
      return turn.commits
    }
  }
}

/** Keys of every length come, grow, shrink and go; each value says which key it belongs to. */
async function churn(shared: SharedEphemeralStore, { seed, rounds }: { seed: number; rounds: number }): Promise<void> {
  let state = seed
  const random = (below: number): number => {
    state = (Math.imul(state, 1_103_515_245) + 12_345) & 0x7fffffff
    return (state >>> 8) % below
  }
  const valueOf = (key: string) => ({ key, text: 'ä'.repeat(random(8) === 0 ? random(5000) : random(60)) })
  for (let round = 0; round < rounds; round++) {
    const key = `${random(3) === 0 ? 'few' : 'many'}:${'k'.repeat(random(40))}${random(300)}`
    switch (random(4)) {
      case 0:
        await shared.add(key, valueOf(key), random(2) === 0 ? 1 : TTL)
        break
      case 1:
        await shared.update<{ key: string }>(key, old => {
          if (old && old.key !== key) throw new Error(`${key} has the value of ${old.key}`)
          return random(4) === 0 ? undefined : { value: valueOf(key), ttl: TTL }
        })
        break
      case 2: {
        const taken = await shared.take<{ key: string }>(key)
        if (taken && taken.key !== key) throw new Error(`${key} has the value of ${taken.key}`)
        break
      }
      default: {
        const found = await shared.get<{ key: string }>(key)
        if (found && found.key !== key) throw new Error(`${key} has the value of ${found.key}`)
      }
    }
  }
  await shared.close()
}

if (parentPort) parentPort.postMessage(await work(workerData as Task))
