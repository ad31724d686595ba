import assert from 'node:assert/strict'
import type { FakeCas } from './fake-cas.ts'
import { type Answer, Visitor } from './http-client.ts'

/** A visitor with a cookie jar that is redirected to the CAS server and back like a browser. */
export class CasBrowser extends Visitor {
  /** The cookie that ties the login to this browser. */
  flow: string | undefined
  /** Set to false for a browser that keeps no cookies. */
  keepsCookies = true

  /** One step of the login. @param query with its question mark */
  async step(query = '', headers: Readonly<Record<string, string>> = {}): Promise<Answer> {
    const cookie = this.flow === undefined ? {} : { cookie: `stowage_cas=${this.flow}` }
    const answer = await this.ask(`auth/cas${query}`, {
      headers: { accept: 'text/html,application/xhtml+xml', ...cookie, ...headers },
    })
    const set = (answer.headers['set-cookie'] ?? []).map(line => /^stowage_cas=([^;]*)/.exec(line)?.[1])
    const value = set.find(one => one !== undefined)
    if (value !== undefined && this.keepsCookies) this.flow = value === '' ? undefined : value
    return answer
  }

  /** Starts a login, and returns the address to which the browser is redirected. */
  async leave(): Promise<URL> {
    const answer = await this.step()
    assert.equal(answer.status, 303, answer.text)
    return new URL(answer.headers.location ?? '')
  }

  /** The complete login as this user of the CAS server. */
  async signInBy(cas: FakeCas, name: string): Promise<Answer> {
    await this.leave()
    return await this.step(`?ticket=${encodeURIComponent(cas.issue(name))}`)
  }

  /** The name of the visitor's current user. */
  async whoAmI(): Promise<string> {
    return (await this.get('auth/user')).json<{ user: string }>().user
  }
}
