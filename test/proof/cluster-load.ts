import assert from 'node:assert/strict'
import type { Answer } from '../support/http-client.ts'
import { Visitor } from '../support/http-client.ts'
import type { Cluster } from '../support/cluster.ts'
import { newUser } from '../support/service.ts'
import {
  gather,
  type Manner,
  newSpaces,
  settle,
  sharesOf,
  type Space,
  type Tally,
  work,
  WrongAnswer,
} from './crash-load.ts'
import type { Random } from './random.ts'

/** Two share a context and its quota, each with places of its own. */
const WORKERS = 6
const CONTEXTS = 3

/** Everything clients do, at once and by way of the balancer, until it is over; and what must be there afterwards. */
export interface ClusterLoad {
  readonly tally: Tally
  /** Logins that were opened, used and ended. */
  readonly logins: () => number
  begin(): void
  /** True while every answer has been right. @throws what was wrong */
  check(): boolean
  /** Ends the load, whatever has become of it. */
  stop(): Promise<void>
  /** Ends the load and holds what is there against what was acknowledged. */
  end(): Promise<void>
  readonly spaces: readonly Space[]
}

/** @param leavesOpen see `Manner`; every other answer that is not right ends the load with an error */
export async function prepareLoad(
  cluster: Cluster,
  random: Random,
  leavesOpen: Manner['leavesOpen'],
): Promise<ClusterLoad> {
  const admin = await cluster.admin()
  const spaces = await newSpaces(admin, CONTEXTS)
  const someone = await newUser({ ...cluster, folder: '', visitor: () => new Visitor(cluster.base) }, admin)
  const tally: Tally = { acknowledged: 0, refused: 0, open: 0 }
  let logins = 0
  let ending = new AbortController()
  let shares: Space[] = []
  let clients: Promise<unknown> = Promise.resolve()
  let failure: unknown
  const signInAndOut = async (): Promise<void> => {
    const visitor = new Visitor(cluster.base)
    while (!ending.signal.aborted) {
      try {
        await useLogin(visitor, someone.name, someone.password)
        logins++
      } catch (error) {
        if (!leavesOpen(error)) throw error
        visitor.cookie = undefined
      }
    }
  }
  return {
    tally,
    spaces,
    logins: () => logins,
    begin() {
      ending = new AbortController()
      shares = sharesOf(spaces, WORKERS)
      const manner = { isOver: () => ending.signal.aborted, leavesOpen }
      const ends = Promise.all([
        ...shares.map(async share => await work(admin, share, random.fork(), tally, manner)),
        signInAndOut(),
      ])
      ends.catch((error: unknown) => {
        ending.abort()
        failure = error
      })
      clients = ends
    },
    check() {
      if (failure !== undefined) throw failure
      return true
    },
    async stop() {
      ending.abort()
      await clients.catch(() => {})
    },
    async end() {
      ending.abort()
      await clients
      gather(spaces, shares)
      await settle(admin, spaces)
    },
  }
}

/** A session is valid with the next request, and invalid with the first after its end, on any node. */
async function useLogin(visitor: Visitor, name: string, password: string): Promise<void> {
  require('POST', await visitor.signIn(name, password), 200)
  const { cookie } = visitor
  const present = await visitor.get('auth/user')
  require('GET', present, 200)
  assert.equal(present.json()['user'], name)
  require('GET', await visitor.get('auth/logout'), 204)
  visitor.cookie = cookie
  const past = await visitor.get('auth/user')
  require('GET', past, 200)
  assert.equal(past.json()['user'], 'guest')
}

function require(method: string, answer: Answer, status: number): void {
  if (answer.status !== status) throw new WrongAnswer(method, answer)
}

/** 503 with a time to come back at, and a code that says why (D1.4). */
export const isClearRefusal = ({ status, headers, text }: Answer): boolean =>
  status === 503 &&
  /^[1-9]\d*$/.test(headers['retry-after'] ?? '') &&
  /"code":"(store-unavailable|overloaded)"/.test(text)
