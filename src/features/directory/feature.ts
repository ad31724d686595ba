import { feature, offer } from '../../core/feature.ts'
import { search } from '../search/feature.ts'
import { callerRoutes } from './caller-routes.ts'
import { newUserRoutes } from './new-user-routes.ts'
import { directoryRoutes } from './routes.ts'

export const directory = feature({
  name: 'directory',
  needs: { search },
  routes: [...callerRoutes, ...directoryRoutes, ...newUserRoutes],
  open(core, { search: { search } }) {
    return {
      offers: [
        ...offer(core, callerRoutes),
        ...offer({ ...core, search }, directoryRoutes),
        ...offer(core, newUserRoutes),
      ],
    }
  },
})
