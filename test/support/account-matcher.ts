import { insertGroup, membershipsOf } from '../../src/accounts/groups.ts'
import { findUser, insertUser } from '../../src/accounts/users.ts'
import { Conflict } from '../../src/base/errors.ts'
import type { Provisioner, Provisioning } from '../../src/content/provisioning.ts'
import { AccountMatcher } from '../../src/features/sso/account-matcher.ts'
import type { AttributeRules } from '../../src/features/sso/attributes.ts'
import type { ProviderPolicy, VerifiedIdentity } from '../../src/features/sso/identity-provider.ts'
import type { Queries } from '../../src/stores/database.ts'
import { newDatabase } from './store.ts'

const client = { address: '192.0.2.1', userAgent: '' }
const policy: ProviderPolicy = { name: 'a', provisions: true, domains: [], maxAge: undefined }
const others: readonly ProviderPolicy[] = [{ ...policy, name: 'b', domains: ['b.example', 'xn--mnchen-3ya.example'] }]
const identity: VerifiedIdentity = { name: 'Anna@A.example', issuer: 'https://idp.a', subject: 'anna-1' }
export const rules: AttributeRules = {
  required: new Map(),
  map: new Map([
    ['language', 'lang'],
    ['property.phone', 'phone'],
    ['property.room', 'room'],
  ]),
  groups: { attribute: 'groups', prefix: 'a-', adminValue: 'a-', provisions: true },
}

/** A matcher on a database, whose changes to metadata and whose records are noted. */
export async function accountMatcher(t: Parameters<typeof newDatabase>[0]) {
  const database = await newDatabase(t)
  const records: object[] = []
  const personal: object[] = []
  let next = 100
  let conflicts = 0
  let failure: Error | undefined
  let runs = 0
  const provisioning = {
    run: async <T>(_: unknown, work: (provisioner: Provisioner) => Promise<T>) => {
      runs++
      if (failure) throw failure
      if (conflicts-- > 0) throw new Conflict('name-taken', 'another sign-on was faster')
      return await database.transaction(async tx => {
        const provisioner = {
          tx,
          createUser: async (name: string) => {
            const id = `${next++}`
            await insertUser(tx, { id, name })
            return await findUser(tx, id)
          },
          createGroup: async (name: string) => {
            const id = `${next++}`
            await insertGroup(tx, { id, name })
            return id
          },
          setPersonalData: async (id: string, data: object) => void personal.push({ id, ...data }),
          record: (event: object) => void records.push(event),
        }
        return await work(provisioner as unknown as Provisioner)
      })
    },
  } as unknown as Provisioning
  const matcher = new AccountMatcher({ database, provisioning }, [policy, ...others])
  const addUser = (id: string, name?: string) => database.transaction(tx => insertUser(tx, { id, name }))
  const addGroup = (id: string, name?: string) => database.transaction(tx => insertGroup(tx, { id, name }))
  const signOn = (changes: Partial<VerifiedIdentity> = {}, provider: Partial<ProviderPolicy> = {}) =>
    matcher.match({ ...identity, ...changes }, { ...policy, ...provider }, client)
  const plan = (
    changes: Partial<VerifiedIdentity> = {},
    provider: Partial<ProviderPolicy> = {},
    queries: Queries = database,
  ) => matcher.plan({ ...identity, ...changes }, { ...policy, ...provider }, queries)
  const groupsOf = async (id: string) =>
    (await membershipsOf(database, id))
      .map(({ name, providers }) => [name, [...providers].sort().join()] as const)
      .sort(([one = ''], [other = '']) => (one < other ? -1 : 1))
  const beBusy = (times: number) => (conflicts = times)
  const fail = (error: Error) => (failure = error)
  return {
    database,
    matcher,
    addUser,
    addGroup,
    signOn,
    plan,
    groupsOf,
    records,
    personal,
    beBusy,
    fail,
    runs: () => runs,
  }
}
