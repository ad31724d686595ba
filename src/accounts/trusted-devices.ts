import type { System } from '../base/system.ts'
import type { Milliseconds } from '../base/units.ts'
import type { Database, Queries } from '../stores/database.ts'
import { sql } from '../stores/sql.ts'
import { digestOf } from './tokens.ts'
import type { User } from './users.ts'

const TOKEN_BYTES = 32
const MAX_PER_USER = 20
/** A device that has not been used for this long is no longer trusted. */
export const DEVICE_TTL: Milliseconds = 365 * 86_400_000

/**
 * Devices from which a user has signed in before (D6.5). Their wrong passwords are counted separately, so that no other
 * person can lock the owner out. A device is a random token in its own cookie; the store keeps only the digest.
 */
export class TrustedDevices {
  readonly #database: Database
  readonly #system: System

  constructor(database: Database, system: System) {
    this.#database = database
    this.#system = system
  }

  /** Returns the digest of the token if it stands for a device of this user. */
  async recognise(user: User, token: string | undefined): Promise<string | undefined> {
    if (token === undefined) return undefined
    const digest = digestOf(token)
    const since = this.#system.now() - DEVICE_TTL
    const known = await this.#database.get(
      sql`SELECT 1 AS known FROM trusted_devices
        WHERE digest = ${digest} AND user_id = ${user.id} AND last_used >= ${since}`,
    )
    return known === undefined ? undefined : digest
  }

  /** Called after a sign-in. Returns the token that the device keeps: its present one if it is valid, otherwise a new one. */
  async trust(user: User, token: string | undefined): Promise<string> {
    const now = this.#system.now()
    if (token !== undefined && (await this.recognise(user, token)) !== undefined) {
      await this.#database.run(sql`UPDATE trusted_devices SET last_used = ${now} WHERE digest = ${digestOf(token)}`)
      return token
    }
    const fresh = Buffer.from(this.#system.randomBytes(TOKEN_BYTES)).toString('base64url')
    await this.#database.transaction(async tx => {
      // Inserts nothing if the user is deleted during the sign-in.
      await tx.run(sql`INSERT INTO trusted_devices (digest, user_id, last_used)
        SELECT ${digestOf(fresh)}, id, ${now} FROM principals WHERE id = ${user.id}`)
      await tx.run(sql`DELETE FROM trusted_devices WHERE user_id = ${user.id} AND digest NOT IN (
        SELECT digest FROM trusted_devices WHERE user_id = ${user.id}
        ORDER BY last_used DESC, digest LIMIT ${MAX_PER_USER})`)
    })
    return fresh
  }
}

/**
 * Called when the password changes. Removes the trust from all devices, because a person who knew the old password may have
 * registered some of them.
 */
export async function forgetDevices(tx: Queries, userId: string): Promise<void> {
  await tx.run(sql`DELETE FROM trusted_devices WHERE user_id = ${userId}`)
}
