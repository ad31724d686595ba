import type { Stopping } from '../../http/http-services.ts'
import { withinTimeout } from '../../base/times.ts'
import type { Milliseconds } from '../../base/units.ts'

/** Resolves when what it looks at works, and rejects when it does not. */
type Probe = () => Promise<unknown>

type State = 'up' | 'down'

/** A load balancer asks every few seconds. A store that has not responded by then is treated as not ready. */
const TIME_LIMIT: Milliseconds = 2000

/** Decides whether this process should get requests: its stores work, and it is not about to stop. */
export class Readiness {
  readonly #probes: Readonly<Record<string, Probe>>
  readonly #stopping: Stopping

  /** @param stopping while it drains, the process is not ready, so that a balancer turns elsewhere while requests are still served */
  constructor(probes: Readonly<Record<string, Probe>>, stopping: Stopping) {
    this.#probes = probes
    this.#stopping = stopping
  }

  async check(): Promise<{ readonly isReady: boolean; readonly checks: Readonly<Record<string, State>> }> {
    const names = Object.keys(this.#probes)
    const states = await Promise.all(Object.values(this.#probes).map(look))
    const checks = Object.fromEntries(names.map((name, index) => [name, states[index] ?? 'down']))
    return { isReady: !this.#stopping.isDraining && !states.includes('down'), checks }
  }
}

async function look(probe: Probe): Promise<State> {
  let state: State = 'down'
  const up = probe().then(() => (state = 'up'))
  await withinTimeout(
    up.catch(() => undefined),
    TIME_LIMIT,
  )
  return state
}
