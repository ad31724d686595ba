import { createContext } from 'preact'
import { useContext } from 'preact/hooks'
import { ask, leaveForSignIn } from './api.ts'
import { chooseLanguage } from './language.ts'

/** Who uses the page. */
export interface Me {
  readonly id: string
  readonly name: string
  readonly language: string | undefined
  readonly homeContext: string | undefined
  readonly isAdmin: boolean
  /** The base address, as the service writes it in its answers. */
  readonly baseUri: string
}

interface UserInformation {
  readonly id: string
  readonly user?: string
  readonly uri?: string
  readonly language?: string
  readonly homecontext?: string
  readonly clientAcceptLanguage: Readonly<Record<string, number>>
}

const GUEST = '_guest'

/** Who is signed in; without anybody the sign-in page comes. The language of the page is that of the user, else the browser's. */
export async function loadMe(): Promise<Me> {
  const information = await ask<UserInformation>('auth/user')
  const { id, user = id, uri = '', language, homecontext, clientAcceptLanguage } = information
  if (id === GUEST) return await leaveForSignIn(false)
  // Who may administer the list of all contexts is an administrator.
  const { rights = [] } = await ask<{ readonly rights?: readonly string[] }>('_contexts/entry/_contexts?includeAll')
  const preferred = Object.entries(clientAcceptLanguage).sort(([, a], [, b]) => b - a)
  chooseLanguage([language, ...preferred.map(([tag]) => tag)])
  const baseUri = uri.slice(0, uri.lastIndexOf('_principals/entry/'))
  return { id, name: user, language, homeContext: homecontext, isAdmin: rights.includes('administer'), baseUri }
}

/** Goes to the sign-in page if the session has ended meanwhile. */
export async function checkSession(me: Me): Promise<void> {
  const { id } = await ask<UserInformation>('auth/user')
  if (id !== me.id) await leaveForSignIn(id === GUEST)
}

interface Session {
  readonly me: Me
  /** Asks again who is signed in, after something about it has changed. */
  readonly reload: () => Promise<void>
}

const none: Session | undefined = undefined
export const SessionContext = createContext<Session | undefined>(none)

export function useSession(): Session {
  const session = useContext(SessionContext)
  if (!session) throw new Error('there is no session')
  return session
}
