import { createContext } from 'preact'

/** Whether the form around a button is being sent. */
export const Sending = createContext(false)
