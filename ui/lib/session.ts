import { createContext } from 'preact'
import { useContext } from 'preact/hooks'
import { leaveForSignIn, Problem, signedInAgain, unreachable } from './api.ts'
import { USER } from '../preloads.ts'
import { address } from './base.ts'
import { chooseLanguage } from './language.ts'

/** The user of the page. */
export interface Me {
  readonly id: string
  readonly name: string
  readonly language: string | undefined
  readonly homeContext: string | undefined
  readonly isAdmin: boolean
  /** The user must add a second factor before anything else. */
  readonly lacksFactor: boolean
  /** The base address, in the form that the service uses in its responses. */
  readonly baseUri: string
}

interface UserInformation {
  readonly id: string
  readonly user?: string
  readonly uri?: string
  readonly language?: string
  readonly homecontext?: string
  readonly isAdmin?: true
  readonly authTokenExpires?: string
  readonly secondFactor?: 'missing'
  readonly clientAcceptLanguage: Readonly<Record<string, number>>
}

const GUEST = '_guest'

/**
 * The signed-in user; without a session, redirects to the sign-in page. Chooses the language of the user,
 * otherwise that of the browser.
 */
export async function loadMe(): Promise<Me> {
  const information = await loadUser()
  const { id, user = id, uri = '', language, homecontext, isAdmin = false, clientAcceptLanguage } = information
  if (id === GUEST) return await leaveForSignIn(false)
  const lacksFactor = information.secondFactor === 'missing'
  const preferred = Object.entries(clientAcceptLanguage).sort(([, a], [, b]) => b - a)
  await chooseLanguage([language, ...preferred.map(([tag]) => tag)])
  baseUri = uri.slice(0, uri.lastIndexOf('_principals/entry/'))
  return { id, name: user, language, homeContext: homecontext, isAdmin, lacksFactor, baseUri }
}

let baseUri = ''

/** {@link Me.baseUri}; empty before the user is known. */
export const currentBaseUri = (): string => baseUri

/** The end of the session by the clock of this browser; `undefined` if it is unknown. */
let ends: number | undefined

export const sessionEnd = (): number | undefined => ends

/** Fetches the user. The request counts as use of the session and prolongs it if the settings allow that. */
async function loadUser(): Promise<UserInformation> {
  const response = await fetch(address(USER), {
    cache: 'no-store',
    headers: { accept: 'application/json' },
  }).catch(() => {
    throw unreachable()
  })
  const body = (await response.json().catch(() => ({}))) as UserInformation & Record<string, unknown>
  if (!response.ok && response.status !== 401) throw new Problem(response.status, body)
  const user = response.ok ? body : { id: GUEST, clientAcceptLanguage: {} }
  ends = endOf(user.authTokenExpires, response.headers.get('date'))
  return user
}

/** The clocks of service and browser may differ, so the remaining time is used. */
function endOf(expires: string | undefined, date: string | null): number | undefined {
  const remaining = Date.parse(expires ?? '') - Date.parse(date ?? '')
  return remaining > 0 ? Date.now() + remaining : undefined
}

/**
 * Asks the user to sign in again if the session has ended; otherwise prolongs the session.
 * @throws {Problem} 401 if the user does not sign in again
 */
export async function checkSession(me: Me): Promise<void> {
  const { id } = await loadUser()
  if (id === me.id) return
  if (id !== GUEST) return location.reload()
  if (!(await signedInAgain())) throw new Problem(401, { code: 'not-signed-in' })
}

/** A step of a sign-in: what the user sends, and where. */
const steps = {
  password: (me: Me, text: string) => sendForm('auth/cookie', { auth_username: me.name, auth_password: text }),
  factor: (_me: Me, text: string) => sendForm('auth/factor', { code: text }),
  newPassword: (_me: Me, text: string) => sendForm('auth/new-password', { password: text }),
} as const

export type SignInStep = keyof typeof steps

const following: Readonly<Record<string, SignInStep>> = {
  'second-factor-required': 'factor',
  'password-change-required': 'newPassword',
}

/**
 * Signs in again as the same user, from the step `password` on.
 * @returns the next step, if one is needed @throws {Problem}
 */
export async function signInAgain(me: Me, step: SignInStep, text: string): Promise<SignInStep | undefined> {
  try {
    await steps[step](me, text)
    return undefined
  } catch (error) {
    const next = error instanceof Problem ? following[error.code] : undefined
    if (next === undefined) throw error
    return next
  }
}

/** Without {@link ask}: a refusal here does not mean that the session has ended. @throws {Problem} */
async function sendForm(path: string, fields: Readonly<Record<string, string>>): Promise<void> {
  const response = await fetch(address(path), {
    method: 'POST',
    headers: { accept: 'application/json' },
    body: new URLSearchParams(fields),
  }).catch(() => {
    throw unreachable()
  })
  if (response.ok) return
  const retryAfter = response.headers.get('retry-after')
  const body = (await response.json().catch(() => ({}))) as Record<string, unknown>
  throw new Problem(response.status, body, retryAfter === null ? undefined : Number(retryAfter))
}

/** Whether this user is still signed in. */
export const isSignedIn = async (me: Me): Promise<boolean> => (await loadUser()).id === me.id

interface Session {
  readonly me: Me
  /** Fetches the user again after a change. */
  readonly reload: () => Promise<void>
}

const none: Session | undefined = undefined
export const SessionContext = createContext<Session | undefined>(none)

export function useSession(): Session {
  const session = useContext(SessionContext)
  if (!session) throw new Error('there is no session')
  return session
}
